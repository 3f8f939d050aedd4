"""The results of forward calls in messages."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine import engine_forward  # noqa: E402 - it imports torch
from engine.engine_protocol import CallError  # noqa: E402

DEVICE = SimpleNamespace(kind_of=lambda _: "cpu")


@pytest.mark.parametrize(
    ("dtype", "name"), [(torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16"), (torch.float64, "f32")]
)
def test_numbers_of_every_type_remain_numbers(dtype, name):
    reply, tensors = engine_forward.packed({"output.loc": torch.tensor([0.25, -1.5], dtype=dtype)}, DEVICE)
    assert reply["placements"] == [{"name": "output.loc", "device": "cpu", "dtype": name}]
    assert tensors["output.loc"].dtype == torch.float32 and tensors["output.loc"].tolist() == [0.25, -1.5]


def test_integers_have_no_type_of_computation():
    for value in (torch.tensor([7, 2], dtype=torch.int32), torch.tensor([True, False])):
        reply, tensors = engine_forward.packed({"host.ids": value}, DEVICE)
        assert reply["placements"] == [] and tensors["host.ids"].dtype == torch.int64
        assert tensors["host.ids"].tolist() == value.tolist()


def test_complex_numbers_are_an_error():
    with pytest.raises(CallError, match="has complex numbers"):
        engine_forward.packed({"output.x": torch.tensor([1j])}, DEVICE)
