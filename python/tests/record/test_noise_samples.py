"""The results that are compared, and the number of samples in each compute type."""

import numpy
import pytest

from record.noise_samples import PRECISIONS, noise

EXACT = [{"logits": numpy.array([2.0, 4.0])}]
ERRORS = {"f32": 1e-6, "f16": 1e-3, "bf16": 1e-2}


def results(error):
    """Results with this relative error in both norms."""
    return [{name: value * (1 + error) for name, value in run.items()} for run in EXACT]


class Reference:
    """A substitute for a model: its results have the errors of `ERRORS`, and those of each further sample are `growth` times as large."""

    def __init__(self, growth=1.0):
        self.growth = growth
        self.sampled = []

    def computed(self, precision):
        assert precision != "f32", "the results of float32 are there already"
        return results(ERRORS[precision])

    def samples(self, precision, count):
        self.sampled.append((precision, count))
        errors = [ERRORS[precision] * self.growth**number for number in range(1, count + 1)]
        return ({"logits": [error, error]} for error in errors)

    def noise(self, exact=EXACT, noise_samples=1, choosing=False):
        return noise(results(ERRORS["f32"]), exact, self.computed, self.samples, noise_samples, choosing)


def test_each_compute_type_is_compared_with_float64():
    found = Reference().noise()
    assert found == {"reference": "float64", "noise_samples": 1} | {name: {"logits": [error, error]} for name, error in ERRORS.items()}


def test_without_a_float64_run_float32_is_the_reference_and_has_no_noise():
    reference = Reference(growth=2.0)
    found = reference.noise(exact=None, noise_samples=2)
    assert (found["reference"], found["noise_samples"]) == ("float32", 2)
    assert "f32" not in found and reference.sampled == [("f16", 1), ("bf16", 1)]
    assert found["f16"]["logits"] == pytest.approx([2e-3, 2e-3], rel=2e-3)


def test_the_largest_sample_counts():
    found = Reference(growth=2.0).noise(noise_samples=4)
    for precision, error in ERRORS.items():
        assert found[precision]["logits"] == [error * 8, error * 8]


def test_more_samples_never_lower_the_noise():
    found = Reference(growth=0.5).noise(noise_samples=4)
    for precision, error in ERRORS.items():
        assert found[precision]["logits"] == [error, error]


def test_the_results_of_the_checkpoint_are_the_first_sample():
    reference = Reference()
    assert reference.noise(noise_samples=3)["noise_samples"] == 3
    assert reference.sampled == [(precision, 2) for precision in PRECISIONS]


def test_where_experts_are_chosen_only_float32_has_several_samples():
    reference = Reference(growth=2.0)
    found = reference.noise(noise_samples=3, choosing=True)
    assert {precision for precision, _ in reference.sampled} == {"f32"}
    assert found["f32"]["logits"] == [4e-6, 4e-6]
    assert found["f16"]["logits"] == [1e-3, 1e-3]


def test_a_tensor_that_overflows_in_a_type_has_no_threshold_there():
    reference = Reference()
    reference.computed = lambda precision: results(numpy.inf if precision == "f16" else ERRORS[precision])
    found = reference.noise()
    assert found["f16"] == {} and found["bf16"] == {"logits": [1e-2, 1e-2]}


def test_each_measurement_is_reported_before_it():
    reference, reported = Reference(), []
    noise(results(1e-6), EXACT, reference.computed, reference.samples, 2, False, lambda done, of: reported.append((done, of)))
    assert [done for done, _ in reported] == [0, 1, 2, 3, 4, 5] and {of for _, of in reported} == {6}
