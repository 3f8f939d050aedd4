"""Random images and audio in the precision of the checkpoint's weights."""

import numpy
import torch


def rounded(config, values):
    """The values as float32. For a checkpoint in 16 bits they are rounded to its type, so that every compute type starts from the same
    input. Configurations of diffusers do not contain their type.
    """
    values = torch.from_numpy(values.astype(numpy.float32))
    dtype = getattr(config, "dtype", None)
    return values if dtype is None else values.to(dtype).float()
