"""The mean and the standard deviation of the values in a recipe, whose models are as deep and as wide as published ones.

`weight_statistics` suits small models. Here are the exceptions: tensors whose effect grows with the depth or the width.
"""

import math
import re

from record.weight_statistics import MATRIX_SCALE, statistics

# The embedding of tokens; that of positions is never scaled.
EMBEDDING = re.compile(r"\b(shared|embed_tokens)\.weight$")
# The query's matrix of T5 and of types that share its blocks.
UNSCALED = re.compile(r"\b(Self|EncDec)Attention\.q\.weight$")
RESIDUAL_BLOCKS = ("ResNetBasicLayer", "ResNetBottleNeckLayer")
# Mamba chooses its time steps with one and reads earlier tokens with the other. transformers initialises both uniformly.
UNIFORM = re.compile(r"\bmixer\.(dt_proj|conv1d)\.weight$")


class RecipeValues:
    """The values of the tensors of one model."""

    def __init__(self, model):
        self.config = model.config
        blocks = [module for module in model.modules() if type(module).__name__ in RESIDUAL_BLOCKS]
        self.blocks = len(blocks)
        # Each ends the branch that is added to the block's input.
        self.last_norms = {id(block.layer[-1].normalization) for block in blocks}

    def of(self, owner, name, shape):
        """Mean and standard deviation of a tensor of the module `owner` (None if that is not known)."""
        found = self.of_scan(name, shape)
        if found is not None:
            return found
        scale = self.scale(owner, name)
        return tuple(value / scale for value in statistics(owner, name, shape))

    def of_scan(self, name, shape):
        """As transformers initialises the scan of Mamba: decays from 1 to the number of states, and time steps so short that a state
        lasts for many tokens. None for all other tensors."""
        if name.endswith("mixer.A_log"):
            logarithms = [math.log(number) for number in range(1, shape[-1] + 1)]
            return moments(logarithms)
        if name.endswith(("mixer.dt_bias", "mixer.dt_proj.bias")):
            # For short steps the inverse of softplus is about the logarithm, which is distributed uniformly.
            low, high = (math.log(getattr(self.config, f"time_step_{end}", default)) for end, default in (("min", 1e-3), ("max", 0.1)))
            return (low + high) / 2, (high - low) / 12**0.5
        return None

    def scale(self, owner, name):
        """How many times smaller trained values are than `statistics` says, because the model scales their result, lacks the usual scale
        or adds the results of many blocks."""
        if UNSCALED.search(name):
            # The scores of T5 are not divided by the root of the width of a head.
            return self.config.d_kv**0.5
        if EMBEDDING.search(name):
            scaled = getattr(self.config, "scale_embedding", False)
            return self.config.d_model**0.5 if scaled else getattr(owner, "scalar_embed_scale", 1)
        if id(owner) in self.last_norms and name.endswith("weight"):
            # No norm follows the sums, which would grow by half in each block: to 3000 after the 16 blocks of ResNet-50.
            return self.blocks**0.5
        if UNIFORM.search(name):
            return MATRIX_SCALE * 3**0.5
        return 1


def moments(values):
    """The mean and the standard deviation."""
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
