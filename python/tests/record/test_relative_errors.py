"""The errors that every threshold is a multiple of."""

import numpy
import pytest

from record.relative_errors import finite_where, larger, largest_errors, relative_errors


def test_equal_arrays_have_no_error():
    array = numpy.random.default_rng(0).normal(size=(3, 4))
    assert relative_errors(array, array.copy()) == [0.0, 0.0]


def test_both_ratios_are_those_of_their_definitions():
    # |d| = 3 and |ref| = 5; max|d| = 3 and max|ref| = 4.
    assert relative_errors([3.0, 7.0], [3.0, 4.0]) == [0.6, 0.75]
    # The sign of a difference does not matter, and elements of other places do.
    assert relative_errors([3.0, 1.0], [3.0, 4.0]) == [0.6, 0.75]
    assert relative_errors([4.0, 3.0], [3.0, 4.0]) == [0.283, 0.25]


def test_zero_equals_zero_only():
    assert relative_errors([0.0, 0.0], [0.0, 0.0]) == [0.0, 0.0]
    assert relative_errors([0.0, 1e-9], [0.0, 0.0]) == [numpy.inf, numpy.inf]


def test_a_result_of_another_shape_has_no_entry():
    runs = [[{"points": numpy.ones((count, 2)), "embed": numpy.ones(3)}] for count in (4, 5)]
    assert largest_errors(*runs) == {"embed": [0.0, 0.0]}
    assert finite_where(*runs)


def test_the_scale_of_both_does_not_matter():
    random = numpy.random.default_rng(1)
    reference = random.normal(size=100)
    value = reference + random.normal(size=100) / 1000
    errors = relative_errors(value, reference)
    assert errors == relative_errors(value * 2**40, reference * 2**40) == relative_errors(value / 2**40, reference / 2**40)
    assert 0.0005 < errors[0] < 0.002


def test_an_error_is_linear_in_the_difference():
    reference = numpy.ones(50)
    for error in (1e-7, 1e-3, 0.5):
        assert relative_errors(reference * (1 + error), reference) == [error, error]


def test_the_difference_is_computed_in_float64():
    # In float32 the difference would be 0 or 1.2e-7.
    value, reference = numpy.float32([1.0]), numpy.float64([1.0 + 1e-9])
    assert relative_errors(value, reference) == [1e-9, 1e-9]


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf, -numpy.inf])
def test_what_is_not_finite_has_an_infinite_error(bad):
    assert relative_errors([1.0, bad], [1.0, 2.0]) == [numpy.inf, numpy.inf]


def test_three_digits_are_kept():
    assert relative_errors([1.0012345], [1.0]) == [0.00123, 0.00123]


def test_the_largest_of_several_runs_counts_by_name():
    reference = [{"logits": numpy.ones(2), "pooled": numpy.ones(2)}, {"logits": numpy.ones(2)}, {"logits": numpy.ones(2)}]
    found = [{"logits": numpy.full(2, 1.1), "pooled": numpy.full(2, 1.4)}, {"logits": numpy.full(2, 1.2)}, {"logits": numpy.full(2, 0.9)}]
    assert largest_errors(found, reference) == {"logits": [0.2, 0.2], "pooled": [0.4, 0.4]}


def test_both_ratios_may_come_from_different_runs():
    reference = [{"logits": numpy.array([3.0, 4.0])}] * 2
    found = [{"logits": numpy.array([3.0, 4.4])}, {"logits": numpy.array([3.39, 4.39])}]
    first, second = (relative_errors(run["logits"], reference[0]["logits"]) for run in found)
    assert first[1] > second[1] and second[0] > first[0]
    assert largest_errors(found, reference) == {"logits": [second[0], first[1]]}


def test_a_tensor_that_overflows_has_no_entry():
    reference = [{"logits": numpy.ones(2), "pooled": numpy.ones(2)}] * 2
    found = [{"logits": numpy.array([1.0, numpy.inf]), "pooled": numpy.ones(2)}, {"logits": numpy.ones(2), "pooled": numpy.ones(2)}]
    assert largest_errors(found, reference) == {"pooled": [0.0, 0.0]}


def test_a_missing_run_or_tensor_is_an_error_and_not_a_smaller_threshold():
    with pytest.raises(ValueError, match="argument 2"):
        largest_errors([{"logits": numpy.ones(2)}], [{"logits": numpy.ones(2)}] * 2)
    with pytest.raises(KeyError):
        largest_errors([{"logits": numpy.ones(2)}], [{"pooled": numpy.ones(2)}])


def test_the_larger_of_two_samples_is_taken_by_ratio():
    assert larger({"logits": [0.1, 0.4]}, {"logits": [0.2, 0.3]}) == {"logits": [0.2, 0.4]}


def test_a_tensor_that_overflowed_in_one_sample_only():
    assert larger({"logits": [0.1, 0.4]}, {}) == {"logits": [0.1, 0.4]}
    # One that has overflowed before has no threshold, whatever the later samples are.
    assert larger({}, {"logits": [0.1, 0.4]}) == {}


def test_a_reference_that_is_not_a_number_matches_nothing():
    assert relative_errors([1.0, 2.0], [numpy.nan, 2.0]) == [numpy.inf, numpy.inf]
    assert largest_errors([{"logits": [1.0]}], [{"logits": [numpy.nan]}]) == {}


def test_a_reference_is_usable_where_it_is_finite_as_often():
    found = [{"mask": numpy.array([1.0, -numpy.inf])}]
    assert finite_where(found, [{"mask": numpy.array([1.0, -numpy.inf])}]) and finite_where(found, [{"mask": numpy.ones(2)}])
    assert not finite_where(found, [{"mask": numpy.array([numpy.nan, -numpy.inf])}])
