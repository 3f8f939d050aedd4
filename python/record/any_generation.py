"""Greedy tokens of types without a native implementation."""

import sys

import numpy
import torch

from record.any_text import Text
from record.relative_errors import relative_errors
from reference import forward_arguments, generation
from reference.errors import first_line
from reference.results import run

CACHES = ("past_key_values", "cache_params", "state")
# What a golden has of a prompt.
PROMPT = {"input_ids", "attention_mask", "pixel_values", "position_ids"}
# With the cache and without it, float32 differs by rounding only.
CLOSE = 1e-3


def generated(model, directory, config, seed, cases):
    """Greedy tokens with the cache, or nothing: if the class does not generate, does not have a cache, or computes other logits with it
    than without it."""
    if not model.can_generate() or not set(CACHES) & forward_arguments.names(model):
        return {}
    try:
        found = tokens(model, directory, config, seed, cases[0])
        why = difference(model, found, cases[0]) if found else None
    except Exception as error:
        # Whatever `generate` of the class raises for arguments that it does not expect.
        found, why = {}, first_line(error)
    if why is not None:
        print(f"note: no greedy tokens are recorded: {why}", file=sys.stderr)
        return {}
    return found


def tokens(model, directory, config, seed, case):
    """The tokens of the golden format."""
    text = Text(model, directory, config, seed)
    if "decoder_input_ids" in case:
        return generation.greedy_from_source(model, case, text.limit, min(text.start, text.decoder_size - 1), text.pad)
    if not set(case) <= PROMPT or "input_ids" not in case:
        return {}
    if "pixel_values" in case:
        prompt = {name: value for name, value in case.items() if name != "attention_mask"}
        prompt = {name: value[:1].expand(2, *value.shape[1:]) if name == "input_ids" else value for name, value in prompt.items()}
        return generation.greedy(model, prompt | {"attention_mask": torch.ones_like(prompt["input_ids"])}, text.limit, text.pad)
    length = min(8, text.limit // 2)
    return generation.greedy(model, text.drawn(numpy.random.default_rng(seed), [length, length]), text.limit, text.pad)


def difference(model, found, case):
    """Why the tokens cannot be recorded, or None."""
    inputs, first = generation.steps(found, case)
    logits = run(model, inputs, trace=False)["logits"][:, first:]
    error = relative_errors(logits.double().numpy(), found["tokens.logits"].double().numpy())[0]
    return None if error < CLOSE else f"logits with the cache differ from those without it by {error}"
