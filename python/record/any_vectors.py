"""Vectors for types without a native implementation that read no text, image or sound: decoders of tokenizers, parts of larger models."""

import itertools
import re

import torch

from record.any_series import normal
from reference.forward_arguments import required

ARGUMENTS = ("latents", "hidden_states", "inputs_embeds", "noise_embeds", "context_hidden_states")
# Lengths that are tried: an odd one tests more; encoders of samples divide it by their strides.
LENGTHS = (9, 12800)


class Vectors:
    """Draws the vectors that `forward` requires. Text models take `inputs_embeds`, too, but do not require it."""

    def __init__(self, model, config):
        self.arguments = [name for name in required(model) if name in ARGUMENTS]
        self.widths = list(dict.fromkeys([*input_widths(model), *([config.hidden_size] if hasattr(config, "hidden_size") else [])]))

    def layouts(self):
        """Functions of `(random, count)` that return the arguments: vectors in rows, which linear layers take, or in columns, which
        convolutions take. Several arguments may have different widths."""
        if not self.arguments:
            return
        for length in LENGTHS:
            for widths in itertools.product(self.widths, repeat=len(self.arguments)):
                yield self.drawn(length, widths, columns=False)
                yield self.drawn(length, widths, columns=True)

    def drawn(self, length, widths, columns):
        """Normal noise, a few vectors more for each further argument."""

        def draw(random, count):
            sizes = [(length + index, width) for index, width in enumerate(widths)]
            return {
                name: normal(random, count, *(reversed(size) if columns else size))
                for name, size in zip(self.arguments, sizes, strict=True)
            }

        return draw


def input_widths(model):
    """The widths that the first linear layer and the first convolution take, and the linear layers outside of the stack."""
    kinds = ((torch.nn.Linear, "in_features"), ((torch.nn.Conv1d, torch.nn.ConvTranspose1d), "in_channels"))
    for kind, size in kinds:
        module = next((module for module in model.modules() if isinstance(module, kind)), None)
        if module is not None:
            yield getattr(module, size)
    outside = (module for name, module in model.named_modules() if not re.search(r"\.\d", name))
    yield from (module.in_features for module in outside if isinstance(module, torch.nn.Linear))
