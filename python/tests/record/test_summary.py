"""The summary of a large tensor; skipped where torch is absent."""

import json
import math

import numpy
import pytest

torch = pytest.importorskip("torch")

from record.drawn_inputs import complete, redraw  # noqa: E402 - it imports torch
from record.random_numbers import nearly_normal  # noqa: E402
from record.relative_errors import relative_errors  # noqa: E402
from record.summary import LARGEST_GOLDEN, VALUES, hashed, shape_of, store, summaries, summary  # noqa: E402


def values(*shape, seed=0):
    return numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32)


def errors(found, expected):
    return relative_errors(summary(found), summary(expected))


def test_shapes():
    assert shape_of((2, 9, 128256)) == (2, 9, 56)
    assert shape_of((1, 37, 30522)) == (1, 37, 26)
    assert shape_of((2, 1500, 768)) == (2, 512)
    assert shape_of((2, 3, 512, 512)) == (2, 3, 170)
    assert shape_of((3_000_000,)) == (VALUES,)
    assert shape_of((2, 100, 50000)) == (2, 512)
    assert shape_of((2, 100, 50000), 2) == (2, 100, 8)
    assert shape_of((2, 9, 50000), 2) == shape_of((2, 9, 50000))


def test_linear():
    a, b = values(2, 9, 3000).astype(numpy.float64), values(2, 9, 3000, seed=1)
    numpy.testing.assert_allclose(summary(a + b), summary(a) + summary(b), atol=2e-5)


def test_each_value_is_in_one_sum_of_each_set():
    one = numpy.zeros((1, 5000), numpy.float32)
    for place in (0, 1, 777, 4999):
        one[:] = 0
        one[0, place] = 3
        assert sorted(numpy.abs(summary(one)).ravel())[-3:] == [0, 3, 3]


def test_the_error_is_that_of_the_whole_tensor():
    whole = values(2, 9, 20000)
    wrong = whole * (1 + 1e-4 * values(2, 9, 20000, seed=1))
    assert errors(wrong, whole)[0] == pytest.approx(relative_errors(wrong, whole)[0], rel=0.15)


@pytest.mark.parametrize("fault", ["row", "swapped rows", "permuted row", "scaled row", "shifted row", "element", "pair"])
def test_faults(fault):
    whole = values(2, 9, 20000)
    wrong = whole.copy()
    match fault:
        case "row":
            wrong[1, 4] = values(20000, seed=5)
        case "swapped rows":
            wrong[0, [2, 3]] = whole[0, [3, 2]]
        case "permuted row":
            wrong[1, 8] = numpy.random.default_rng(3).permutation(whole[1, 8])
        case "scaled row":
            wrong[0, 0] *= 1.001
        case "shifted row":
            wrong[0, 5] = numpy.roll(whole[0, 5], 1)
        case "element":
            wrong[1, 2, 12345] += 0.05
        case "pair":
            wrong[1, 2, [7, 8]] = whole[1, 2, [8, 7]]
    noise = errors(whole * (1 + 1e-7 * values(2, 9, 20000, seed=9)), whole)
    limits = [max(4 * noise[0], 3e-6), max(4 * noise[1], 6e-6)]
    found = errors(wrong, whole)
    assert found[0] > limits[0] or found[1] > limits[1]


def test_the_stored_case():
    # The test in Rust has the same numbers; without them, another order, other places or no signs would be consistent with themselves.
    array = (numpy.arange(2 * 1000, dtype=numpy.float32) % 17).reshape(2, 1000)
    got = summary(array)
    assert hashed(1000)[:, :2].tolist() == [[504958322, 371703343], [458244720, 2827861527]]
    assert (got.shape, got[0, :6].tolist(), got[1, -4:].tolist()) == ((2, 512), [-28, 8, 9, 10, -30, -8], [7, -10, -18, 5])
    assert math.prod(got.shape) == VALUES
    assert float(numpy.abs(got).sum()) == 14562


def test_a_small_golden_stays_whole():
    tensors = {"output.x": torch.zeros(LARGEST_GOLDEN // 4), "input.x": torch.zeros(0)}
    assert summaries(tensors, [{}]) == {}
    assert store(tensors, [{}], {}) == (tensors, {})


def test_large_results_of_a_large_golden():
    large, small = torch.from_numpy(values(2, 9, 9000)), torch.ones(64, 64)
    results = ["case.1.output.logits", "output.logits", "tokens.logits", "trace.layer.0"]
    others = ["input.pixels", "router.0", "detection.boxes"]
    tensors = dict.fromkeys(results + others, large) | {"output.small": small, "tokens.greedy": torch.zeros(9000, 9, dtype=torch.int64)}
    cases = [{}, {}]
    found = summaries(tensors, cases)
    assert sorted(found) == results
    stored, metadata = store(tensors, cases, found)
    assert json.loads(metadata["summaries"])["tokens.logits"] == {"shape": [2, 9, 9000], "largest": float(large.abs().max())}
    assert stored["tokens.logits"].shape == (2, 9, 56)
    assert stored["input.pixels"] is large and stored["output.small"] is small


def test_what_checks_select_stays_selectable():
    # Each has more rows than are kept without a reason.
    steps, hidden, other = torch.ones(2, 100, 3000), torch.ones(4, 50, 60), torch.ones(4, 40, 60)
    tensors = {"tokens.logits": steps, "case.1.output.hidden": hidden, "output.hidden": hidden, "output.other": other}
    cases = [{"input_ids": torch.ones(4, 50)}, {"attention_mask": torch.ones(4, 50)}]
    stored, _ = store(tensors, cases, summaries(tensors, cases))
    assert {name: tuple(tensor.shape) for name, tensor in stored.items()} == {
        "tokens.logits": (2, 100, 8),
        "case.1.output.hidden": (4, 50, 8),
        "output.hidden": (4, 256),
        "output.other": (4, 256),
    }


def test_results_that_sums_cannot_describe_stay_whole():
    infinite, narrow = torch.ones(2, 9, 9000), torch.ones(20, 400, 5)
    infinite[1, 2, 3] = -math.inf
    tensors, cases = {"tokens.logits": infinite, "output.labels": narrow}, [{"attention_mask": torch.ones(20, 400)}]
    assert summaries(tensors, cases) == {}
    assert summaries(tensors, [{}]).keys() == {"output.labels"}


def test_large_inputs_are_drawn_again_and_completed():
    pixels, ids = 3 + 2 * torch.from_numpy(values(1, 3, 200, 200)), torch.ones(1, 9, dtype=torch.int64)
    (first, second), drawn = redraw([{"pixels": pixels, "ids": ids}, {"pixels": pixels[:, :, :9]}], seed=7)
    assert list(drawn) == ["input.pixels"] and first["ids"] is ids and torch.equal(second["pixels"], pixels[:, :, :9])
    assert first["pixels"].shape == pixels.shape
    assert float(first["pixels"].mean()) == pytest.approx(3, abs=0.05) and float(first["pixels"].std()) == pytest.approx(2, abs=0.05)
    golden = complete({"input.ids": ids}, {"drawn": json.dumps(drawn)})
    assert torch.equal(golden["input.pixels"], first["pixels"]) and golden["input.ids"] is ids


def test_drawn_values_are_those_of_rust():
    # The test in Rust has the same numbers.
    found = nearly_normal("7:input.pixels", 5, 3.0, 2.0)
    assert found.tolist() == [3.529954433441162, 4.052825450897217, 2.465869903564453, 3.8192989826202393, 4.7431511878967285]
