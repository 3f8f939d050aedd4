"""Inputs that a golden has as their seed: the pixels of a batch of images are more bytes than all other tensors of a golden.

crates/runtime/src/golden/drawn.rs computes the same values.
"""

import json
import math

import torch

from record.random_numbers import nearly_normal
from record.summary import LARGEST_GOLDEN


def redraw(cases, seed):
    """The cases with large inputs of floats drawn again, and {name in the golden: shape, seed, mean and standard deviation}."""
    found, drawn = [], {}
    for index, case in enumerate(cases):
        prefix = f"case.{index}.input." if index else "input."
        large = {name: value for name, value in case.items() if value.is_floating_point() and 4 * value.numel() > LARGEST_GOLDEN}
        descriptions = {prefix + name: described(value, seed) for name, value in large.items()}
        found.append(case | {name: values(prefix + name, descriptions[prefix + name]) for name in large})
        drawn |= descriptions
    return found, drawn


def described(value, seed):
    """Shape, seed, mean and standard deviation, with as many digits as every parser of JSON reads as the same float32."""
    mean, std = (float(f"{float(number):.6g}") for number in (value.mean(), value.std()))
    return {"shape": list(value.shape), "seed": seed, "mean": mean, "std": std}


def values(name, description):
    """The tensor `name` of a golden in float32."""
    text, shape = f"{description['seed']}:{name}", description["shape"]
    return torch.from_numpy(nearly_normal(text, math.prod(shape), description["mean"], description["std"])).reshape(shape)


def complete(tensors, metadata):
    """The tensors of a golden with the inputs that it has as their seed."""
    drawn = json.loads(metadata.get("drawn", "{}"))
    return tensors | {name: values(name, description) for name, description in drawn.items()}
