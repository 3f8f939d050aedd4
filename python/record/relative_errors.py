"""How far results are from a reference, which every threshold is made of.

Pure arithmetic over numpy arrays, so that its tests need no torch.
"""

import numpy


def largest_errors(found, reference):
    """{name: [relative L2, relative maximum]}, the largest over the runs; a tensor that overflows in this type, or has another shape, has
    no entry."""
    errors = {}
    for one, other in zip(found, reference, strict=True):
        for name, value in one.items():
            pair = relative_errors(value, other[name])
            errors[name] = [max(old, new) for old, new in zip(errors.get(name, (0.0, 0.0)), pair, strict=True)]
    return {name: pair for name, pair in errors.items() if all(numpy.isfinite(pair))}


def relative_errors(value, reference):
    """|d| / |ref| and max|d| / max|ref| in float64, to three digits; not a number counts as infinite, and zero as equal to zero."""
    value, reference = (numpy.asarray(array, dtype=numpy.float64) for array in (value, reference))
    if value.shape != reference.shape:
        # The model finds more points, or more frames of sound, in this type than in the other one.
        return [float("inf")] * 2
    with numpy.errstate(invalid="ignore", over="ignore", divide="ignore"):
        difference = numpy.nan_to_num(value - reference, nan=numpy.inf, posinf=numpy.inf, neginf=-numpy.inf)
        pairs = ((norm(difference), norm(reference)), (numpy.abs(difference).max(), numpy.abs(reference).max()))
        # Any difference from a reference of zero is infinite, as the checks of the suite have it.
        ratios = [error / size if error else 0.0 for error, size in pairs]
    # `max` of Python keeps its first argument where the second is not a number, which would make the error zero.
    return [float(f"{float(numpy.nan_to_num(ratio, nan=numpy.inf, posinf=numpy.inf)):.3g}") for ratio in ratios]


def finite_where(found, reference):
    """Whether the runs of `reference` are finite wherever those of `found` are."""
    pairs = ((value, other[name]) for one, other in zip(found, reference, strict=True) for name, value in one.items())
    return all(left.shape != right.shape or (numpy.isfinite(right) | ~numpy.isfinite(left)).all() for left, right in pairs)


def norm(array):
    """The L2 norm over all elements."""
    return numpy.sqrt(numpy.square(array).sum())


def larger(errors, others):
    """The larger of both, by name; a tensor that overflowed only in the other sample keeps its own error."""
    return {name: [max(pair) for pair in zip(own, others.get(name, own), strict=True)] for name, own in errors.items()}
