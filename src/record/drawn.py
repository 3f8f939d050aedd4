"""Drawn images and recordings, as exact as the checkpoint's weights: part of the recorder `goldens.py`."""

import numpy
import torch


def drawn(config, values):
    """The values as float32; of a checkpoint in 16 bits rounded to its type, so that every compute type starts from the same input."""
    values = torch.from_numpy(values.astype(numpy.float32))
    dtype = getattr(config, "dtype", None)
    return values if dtype is None else values.to(dtype).float()
