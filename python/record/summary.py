"""The summaries that a golden of a large model stores in place of whole tensors.

Owns: when a tensor is summarised, and its summary: signed sums of the values of each row. They are linear in the values, so that the
difference of two summaries is the summary of the difference. crates/runtime/src/golden/summary.rs computes the same bits.
"""

import json
import math
import re

import numpy
import torch

from record.random_numbers import words

# The bytes of a golden that has whole tensors only. The largest fixture's is smaller; git keeps the golden of a published size.
LARGEST_GOLDEN = 256 << 10
# The bytes in float32 of a tensor that stays whole in a larger golden.
LARGEST_WHOLE = 16 << 10
# The values of a summary: 4 KB. Thirty tensors, as Qwen3-0.6B has, are 120 KB.
VALUES = 1024
# Leading dimensions are kept up to this many rows, because checks select rows and positions of a batch.
MOST_ROWS = 128
# Inputs whose positions checks select in the results that have them.
MASKS = ("attention_mask", "decoder_attention_mask")
# Two values in the same sum with the same sign could be exchanged unseen, but rarely so in both sets of sums.
SETS = 2
# The names of what the model computes: all else in a golden is an input, or a choice that must be exact.
RESULT = re.compile(r"^((case\.\d+\.)?output\.|trace\.|tokens\.logits$)")
# Probabilities of experts are compared by the expert.
ROUTER = ("router.", "routing.")


def summaries(tensors, cases):
    """{name: shape of the tensor and its largest absolute value} of the tensors that are stored as a summary: none in a small golden."""
    if sum(tensor.nbytes for tensor in tensors.values()) <= LARGEST_GOLDEN:
        return {}
    results = {name: tensor for name, tensor in tensors.items() if RESULT.match(name)}
    large = {name: tensor for name, tensor in results.items() if is_summarised(name, tensor, case_of(name, cases))}
    # Sums would not show which values may be infinite.
    large = {name: tensor for name, tensor in large.items() if tensor.isfinite().all()}
    return {name: {"shape": list(tensor.shape), "largest": float(tensor.abs().max())} for name, tensor in large.items()}


def store(tensors, cases, found):
    """The tensors and the metadata of a golden with the summaries `found`."""
    tensors = dict(tensors)
    for name in found:
        kept = selected(name, tensors[name].shape, case_of(name, cases))
        tensors[name] = torch.from_numpy(summary(tensors[name].detach().double().numpy(), kept))
    return tensors, {"summaries": json.dumps(found, sort_keys=True)} if found else {}


def case_of(name, cases):
    """The inputs of the case to which a tensor of a golden belongs."""
    number = re.match(r"case\.(\d+)\.", name)
    return cases[int(number[1]) if number else 0]


def is_summarised(name, result, case):
    """Whether a large golden has the summary of a result of the model."""
    if name.startswith(ROUTER) or not result.is_floating_point() or 4 * result.numel() <= LARGEST_WHOLE:
        return False
    return math.prod(shape_of(result.shape, selected(name, result.shape, case))) < result.numel()


def selected(name, shape, case):
    """How many leading dimensions checks select in a result: `greedy_margin` rows and steps, `mask_golden` and the comparison with an
    engine the positions of a mask."""
    if name == "tokens.logits":
        return 2
    masks = (case[mask].shape for mask in MASKS if mask in case)
    return max((len(mask) for mask in masks if shape[: len(mask)] == mask and len(mask) < len(shape)), default=0)


def shape_of(shape, selected=0):
    """The leading dimensions that are kept, at least those that are `selected`, then the number of sums."""
    kept = len(shape) - 1
    while kept > selected and math.prod(shape[:kept]) > MOST_ROWS:
        kept -= 1
    # Fewer sums of a row would say too little about its error.
    rows = min(math.prod(shape[:kept]), MOST_ROWS)
    return (*shape[:kept], SETS * max(VALUES // SETS // rows, 1))


def summary(array, selected=0):
    """Sums of the values of each row in float64, each value in one sum of each set, with a sign; the result is float32."""
    shape = shape_of(array.shape, selected)
    rows = numpy.asarray(array, dtype=numpy.float64).reshape(math.prod(shape[:-1]), -1)
    count, halves = shape[-1] // SETS, hashed(rows.shape[1])
    # `bincount` adds in the order of the values, which makes the result the same in Rust.
    sets = [((half >> 1) % count, 1.0 - 2.0 * (half & 1)) for half in halves]
    sums = [[numpy.bincount(places, signs * row, count) for places, signs in sets] for row in rows]
    return numpy.stack(sums).astype(numpy.float32).reshape(shape)


def hashed(width):
    """The lower and the upper halves of a random word for each value of a row."""
    return words(f"summary:{width}", width).view("<u4").reshape(width, SETS).T.astype(numpy.int64)
