"""Inputs of time series models."""

import numpy
import torch


def cases(_directory, config, random, _seed):
    """Main case of two series with missing values; then three in another unit, complete and without a mask."""
    values, observed = series(random, 2, config), holes(random, 2, config)
    main = {"past_values": values * observed, "past_observed_mask": observed}
    return [main, {"past_values": series(random, 3, config) * 1.5 + 0.5}], {}, {}


def series(random, count, config):
    """Waves with a trend and noise, in another unit for each channel: [count, context_length, channels]."""
    time = numpy.arange(config.context_length)[None, :, None]
    shape = (count, 1, config.num_input_channels)
    period, phase = random.uniform(4, config.context_length, shape), random.uniform(0, 6, shape)
    waves = numpy.sin(2 * numpy.pi * time / period + phase) + random.normal(0, 0.5, shape) * time / config.context_length
    noise = random.normal(0, 0.2, (count, config.context_length, config.num_input_channels))
    values = (waves + noise) * random.uniform(0.5, 2, shape) + random.normal(0, 0.7, shape)
    return torch.from_numpy(values.astype(numpy.float32))


def holes(random, count, config):
    """1 where a value was observed; a few are missing, different ones in each channel. Floats, because with a mask of booleans or
    integers the scaler of transformers computes in float32 whatever the type of the model, which then stops."""
    drawn = random.random((count, config.context_length, config.num_input_channels)) > 0.15
    return torch.from_numpy(drawn.astype(numpy.float32))
