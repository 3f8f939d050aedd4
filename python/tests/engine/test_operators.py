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
    reply, tensors = operators.packed(operators.work(call, device, math=False)(), device)
    # As 32-bit integers wrap around.
    assert reply == {"element": "i32", "device": "cpu"} and tensors["result"].item() == -(2**31)
    with pytest.raises(operators.Unsupported, match="`fft`"):
        operators.work(operators.Call("fft", [], {}, {}), device, math=False)
