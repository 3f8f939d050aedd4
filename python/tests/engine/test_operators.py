"""Operators in the engine `torch`: which it has, and the layouts of their inputs."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def operators():
    """The engine's module, which imports torch: not before the tests that run without it."""
    pytest.importorskip("torch")
    from engine import engine_operators

    return engine_operators


def test_it_has_every_operator_of_testgen(operators):
    from engine import torch_collectives, torch_operators

    assert sorted([*torch_operators.names(), *torch_collectives.OPERATORS]) == sorted(torch_operators.DECLARED)


@pytest.mark.parametrize("element", ["f32", "bf16", "i32", "bool"])
def test_layouts_have_other_strides_and_the_same_elements(operators, element):
    import torch

    x = torch.tensor([[1, 0, 1], [0, 0, 1]]).to(operators.TYPES[element])
    strides = {"contiguous": (3, 1), "reversed": (1, 2), "sliced": (14, 2)}
    for layout, expected in strides.items():
        placed = operators.placed(x, layout)
        assert placed.stride() == expected and torch.equal(placed, x), layout
    rows = operators.placed(x[:1].repeat(2, 1), "expanded")
    assert rows.stride() == (0, 1) and torch.equal(rows, x[:1].expand(2, 3))
    # The elements around a slice show in every result.
    around = torch.as_strided(operators.placed(x, "sliced"), (5, 7), (7, 1), 0)[0, 0]
    assert not (around == around and around.item() == 0)


def test_results_are_returned_in_a_type_of_the_protocol(operators):
    import torch

    device = SimpleNamespace(torch=torch.device("cpu"), kind_of=lambda _: "cpu")
    described = [{"element": "i32", "layout": "contiguous"}]
    call = operators.Call("sum", described, {"dim": None}, {"input.0": torch.tensor([2**31 - 1, 1])})
    reply, tensors = operators.packed(call, operators.work(call, device, math=False)(), device, None)
    # As 32-bit integers wrap around.
    assert reply == {"element": "i32", "device": "cpu"} and tensors["result"].item() == -(2**31)
    with pytest.raises(operators.Unsupported, match="`fft`"):
        operators.work(operators.Call("fft", [], {}, {}), device, math=False)


@pytest.mark.parametrize("layout", ["contiguous", "reversed"])
def test_inputs_are_repeated_on_the_device_and_results_are_read_there(operators, layout):
    import torch

    from engine.torch_repeated import KeptResults

    device, kept = SimpleNamespace(torch=torch.device("cpu"), kind_of=lambda _: "cpu"), KeptResults()
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    repeated = {"shapes": [[3, 5]], "fill": [3, 5]}
    call = operators.Call("neg", [{"element": "f16", "layout": layout}], {}, {"input.0": x}, repeated)
    assert operators.inputs_of(call, device.torch)[0].is_contiguous() == (layout == "contiguous")
    reply, tensors = operators.packed(call, operators.work(call, device, math=False)(), device, kept)
    number = reply["kept"]["result"]
    assert reply == {"element": "f16", "device": "cpu", "kept": {"result": number, "shape": [3, 5]}} and tensors == {}
    whole = [1, 2, 3, 1, 2, 4, 5, 6, 4, 5, 1, 2, 3, 1, 2]
    assert kept.part(number, 0, 15).tolist() == [-value for value in whole]
    assert kept.part(number, 4, 3).tolist() == [-2, -4, -5]
    kept.drop(number)
    with pytest.raises(operators.torch_repeated.CallError, match=f"result {number} is not on the device"):
        kept.part(number, 0, 1)
