"""The implementations and the evaluation of `fixtures/false_failures.py`; skipped where torch or what makes fixtures is absent."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "fixtures"))

import false_failures  # noqa: E402 - it imports torch

FUNCTIONS = {
    "norm": lambda values: torch.nn.functional.layer_norm(values, (8,), torch.linspace(1, 2, 8).to(values), torch.ones(8).to(values), 1e-5),
    "softmax": lambda values: values.softmax(-1),
    "gelu": torch.nn.functional.gelu,
    "tanh form": lambda values: torch.nn.functional.gelu(values, approximate="tanh"),
    "silu": torch.nn.functional.silu,
    "linear": lambda values: torch.nn.functional.linear(values, values, torch.ones(values.shape[0]).to(values)),
    "convolution": lambda values: torch.nn.functional.conv1d(values[None], torch.ones(2, 6, 3).to(values), torch.ones(2).to(values)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@torch.no_grad()
def test_composed_operations_are_the_same_function_with_other_rounding(name):
    values = torch.randn(6, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = FUNCTIONS[name](values)
    for composition in false_failures.COMPOSITIONS.values():
        with false_failures.Composed(*composition):
            assert torch.allclose(FUNCTIONS[name](values), expected, rtol=1e-12, atol=1e-12)
    with false_failures.Composed(True, True):
        assert not torch.equal(FUNCTIONS[name](values.half()), FUNCTIONS[name](values).half()), "it rounds more often"


def test_an_error_above_a_threshold_is_a_failure():
    def found(error, noise=(2e-3, 2e-3), samples=1):
        line = {
            "elements": {"y": 64},
            "noise": {"f16": [{"y": list(noise)}, {"y": [4e-3, 4e-3]}]},
            "errors": {"f16": {"sdpa": {"y": error}}},
        }
        return false_failures.failures(line, "f16", "sdpa", samples)

    assert found([4e-3, 8e-3]) == set()
    assert found([4.1e-3, 8e-3]) == {"ladder"}
    assert found([4e-3, 8.1e-3]) == {"golden"}
    assert found([8e-3, 1.6e-2], samples=2) == set()
    assert found([5.1e-2, 8e-2], noise=(2e-2, 2e-2)) == {"ceiling", "ladder"}
