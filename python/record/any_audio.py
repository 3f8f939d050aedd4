"""Sounds for types without a native implementation, in the layouts that models take them in."""

import numpy
import torch

from record.measured_sizes import AUDIO, FEATURES, first, number
from reference.families.speech import draw_sound
from reference.forward_arguments import names
from reference.rounded_inputs import rounded

ARGUMENTS = ("input_features", "input_values", "audio_values", "audio_mel")
# Lengths that are tried: an odd one tests more, some models take multiples of their window only, and some need a longer one.
SAMPLES = (1437, 3840, 7680)
FRAMES = (64, 200)


class Audio:
    """Draws the audio argument of a model."""

    def __init__(self, model, config):
        self.config, self.taken = config, names(model)
        self.features = number(first(config, AUDIO, FEATURES)) or 80
        linear = (module for module in model.modules() if isinstance(module, torch.nn.Linear))
        # Frames may be joined before the first layer.
        self.joined = next((module.in_features for module in linear), self.features)
        longest = number(first(config, AUDIO, ("max_source_positions",)))
        self.fixed = number(first(config, AUDIO, ("max_length",))) if longest is None else 2 * longest

    @property
    def argument(self):
        """The argument with samples or features, or None."""
        return next((name for name in ARGUMENTS if name in self.taken), None)

    def layouts(self):
        """Functions of `(random, count)` that return the arguments, the likeliest first."""
        if self.argument is None:
            return
        samples = [self.samples(length, *channel) for length in SAMPLES for channel in ((), (1,))]
        lengths, orders = dict.fromkeys((self.fixed or FRAMES[0], *FRAMES)), (((0, 1), ()), ((1, 0), ()), ((1, 0), (1,)))
        frames = [self.spectrogram((self.features, length), order, between) for length in lengths for order, between in orders]
        frames.append(self.spectrogram((self.joined, FRAMES[0]), *orders[1]))
        both = [*samples, *frames] if self.argument == "input_values" else [*frames, *samples]
        yield from both

    def samples(self, length, *channel):
        """Samples [count, (1,) samples]."""

        def draw(random, count):
            sounds = numpy.stack([draw_sound(random, length, 16000) for _ in range(count)])
            return self.with_mask({self.argument: rounded(self.config, (sounds - 0.05) * 5).reshape(count, *channel, length)}, length)

        return draw

    def spectrogram(self, shape, order, between):
        """A spectrogram of `shape`, which is features and frames, in an order: [count, *between, features, frames] or exchanged."""

        def draw(random, count):
            case = {self.argument: rounded(self.config, random.normal(0, 0.7, (count, *between, *(shape[index] for index in order))))}
            return self.with_mask(case, shape[1])

        return draw

    def with_mask(self, case, length):
        """Adds a mask that shows everything under the name that only sounds have."""
        count = len(case[self.argument])
        found = next((name for name in ("input_features_mask", "feature_attention_mask", "padding_mask") if name in self.taken), None)
        return case | ({found: torch.ones(count, length, dtype=torch.int64)} if found else {})
