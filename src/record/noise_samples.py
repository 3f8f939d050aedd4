"""From results in each compute type to the recorded noise: part of the recorder `goldens.py`.

Owns: which compute type is compared with what, and how often. Does not own: running the model (`noise.py`), so that its tests need
no torch.
"""

from relative_errors import larger, largest_errors

PRECISIONS = ("f32", "f16", "bf16")


def noise(results, exact, computed, sample, noise_samples, choosing):
    """`reference`, `noise_samples`, and for each compute type {name: [relative L2, relative maximum]}.

    `results` are those of float32, `exact` those of float64 or None where the model only runs in float32. `computed(precision)` returns
    the results in a compute type, or None if the model does not run in it, and `sample(precision, seed)` the errors with other weights.

    A single sample may be too small: near a discontinuity of a softmax or norm another one is several times as large. Where a model
    chooses experts or passages, moved weights may rightly choose others in 16 bits, so only float32 has more than one sample; without
    a float64 run there is one sample.
    """
    reference, named = exact, "float64"
    if reference is None:
        reference, named, noise_samples = results, "float32", 1
    found = {"reference": named, "noise_samples": noise_samples}
    for precision in PRECISIONS:
        if precision == "f32" and named == "float32":
            continue
        own = results if precision == "f32" else computed(precision)
        if own is None:
            continue
        errors = largest_errors(own, reference)
        for seed in range(1, noise_samples if precision == "f32" or not choosing else 1):
            errors = larger(errors, sample(precision, seed))
        found[precision] = errors
    return found
