"""Series for types without a native implementation: of numbers, and of states and actions."""

import numpy
import torch

from reference.forward_arguments import names


class Series:
    """Draws the arguments of a forecaster, or of a model of decisions, from its configuration."""

    def __init__(self, model, config):
        self.config, self.taken = config, names(model)
        self.context = getattr(config, "context_length", None) or 32
        self.length = self.context + max(getattr(config, "lags_sequence", None) or [0])
        self.future = getattr(config, "prediction_length", None) or 1
        self.channels = getattr(config, "num_input_channels", None) or getattr(config, "input_size", 1)

    def layouts(self):
        """Functions of `(random, count)` that return the arguments: with a dimension of channels, and without."""
        if "past_values" in self.taken:
            yield self.drawn(self.channels)
            yield self.drawn()
        if {"states", "actions", "returns_to_go", "timesteps"} <= self.taken:
            yield self.decisions

    def decisions(self, random, count, length=7):
        """States, actions, their rewards and the returns that are left, at successive times. Nothing is hidden, because positions of this
        class do not depend on the mask."""
        config = self.config
        start = random.integers(0, max(config.max_ep_len - length, 1), (count, 1))
        case = {
            "states": normal(random, count, length, config.state_dim),
            "actions": normal(random, count, length, config.act_dim).tanh(),
            "rewards": normal(random, count, length, 1),
            "returns_to_go": normal(random, count, length, 1),
            "timesteps": torch.from_numpy(start + numpy.arange(length)),
            "attention_mask": torch.ones(count, length, dtype=torch.int64),
        }
        return {name: value for name, value in case.items() if name in self.taken}

    def drawn(self, *channels):
        """Waves with a trend, and what else the signature names."""

        def draw(random, count):
            case = {"past_values": self.waves(random, count, self.length, *channels)}
            if "past_observed_mask" in self.taken:
                case["past_observed_mask"] = (torch.from_numpy(random.random(case["past_values"].shape)) > 0.15).float()
                case["past_values"] = case["past_values"] * case["past_observed_mask"]
            return case | self.features(random, count, *channels)

        return draw

    def features(self, random, count, *channels):
        """The further arguments of a forecaster."""
        config = self.config
        times = (getattr(config, "num_time_features", 0) or 0) + (getattr(config, "num_dynamic_real_features", 0) or 0)
        lengths = {"past_time_features": self.length, "future_time_features": self.future}
        case = {name: normal(random, count, length, times) for name, length in lengths.items() if name in self.taken}
        if "future_values" in self.taken and "future_time_features" in self.taken:
            case["future_values"] = self.waves(random, count, self.future, *channels)
        if "static_categorical_features" in self.taken and getattr(config, "num_static_categorical_features", 0):
            sizes = config.cardinality
            case["static_categorical_features"] = torch.from_numpy(numpy.stack([random.integers(0, size, count) for size in sizes], 1))
        if "static_real_features" in self.taken and getattr(config, "num_static_real_features", 0):
            case["static_real_features"] = normal(random, count, config.num_static_real_features)
        if "freq" in self.taken:
            case["freq"] = torch.zeros(count, 1, dtype=torch.int64)
        return case

    def waves(self, random, count, length, *channels):
        """Waves with noise, in another unit for each channel."""
        shape = (count, 1, *channels)
        time = numpy.arange(length).reshape(1, -1, *(1 for _ in channels))
        period, phase = random.uniform(4, length + 4, shape), random.uniform(0, 6, shape)
        waves = numpy.sin(2 * numpy.pi * time / period + phase) + random.normal(0, 0.2, (count, length, *channels))
        values = waves * random.uniform(0.5, 2, shape) + random.normal(0, 0.7, shape)
        return torch.from_numpy(values.astype(numpy.float32))


def normal(random, *shape):
    """Normal noise."""
    return torch.from_numpy(random.normal(0, 1, shape).astype(numpy.float32))
