"""From results in each compute type to the recorded noise.

Owns: which compute type is compared with what, and how often. Does not own: running the model (`noise.py`), so that its tests need
no torch.
"""

from record.relative_errors import larger, largest_errors

PRECISIONS = ("f32", "f16", "bf16")
# One sample may be a fifth of the next one, and the thresholds are four times it (docs/measurements/noise.md has the measured rates).
NOISE_SAMPLES = 8


def noise(results, exact, computed, samples, noise_samples, choosing, report=lambda done, of: None):
    """`reference`, `noise_samples`, and for each compute type {name: [relative L2, relative maximum]}, the largest over the samples.

    `results` are those of float32, `exact` those of float64 or None where the model only runs in float32. `computed(precision)` returns
    the results in a compute type, or None if the model does not run in it, and `samples(precision, count)` yields the errors of
    `count` further samples, which have other weights.

    Where a model chooses experts or passages, moved weights may rightly choose others in 16 bits, so only float32 has more than one sample.
    `report(done, of)` is called before each measurement.
    """
    reference, named = (exact, "float64") if exact is not None else (results, "float32")
    found = {"reference": named, "noise_samples": noise_samples}
    for index, precision in enumerate(PRECISIONS):
        measured = index * noise_samples
        report(measured, len(PRECISIONS) * noise_samples)
        if precision == "f32" and named == "float32":
            continue
        own = results if precision == "f32" else computed(precision)
        if own is None:
            continue
        errors = largest_errors(own, reference)
        if precision == "f32" or not choosing:
            for sample, others in enumerate(samples(precision, noise_samples - 1), 1):
                errors = larger(errors, others)
                report(measured + sample, len(PRECISIONS) * noise_samples)
        found[precision] = errors
    return found
