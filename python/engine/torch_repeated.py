"""Operators on large inputs, which repeat small ones, and results that remain on the device: part of the engine `torch`."""

import itertools
from dataclasses import dataclass

import torch

from engine.engine_protocol import CallError, Unsupported


def repeated(x, shape, layout="contiguous"):
    """A tensor repeated to a shape, in a layout."""
    if layout == "contiguous":
        return tiled(x, shape)
    if layout == "reversed":
        axes = tuple(reversed(range(x.ndim)))
        return tiled(x.permute(axes), [shape[axis] for axis in axes]).permute(axes)
    raise Unsupported(f"layout `{layout}` of a repeated input")


def tiled(x, shape):
    """A tensor repeated along every dimension that is longer in `shape`, the innermost first, so that only the last step is large."""
    x = x.contiguous()
    for dimension in reversed(range(x.ndim)):
        period, length = x.shape[dimension], shape[dimension]
        if period not in (0, length):
            x = x.index_select(dimension, torch.arange(length, device=x.device) % period)
    return x


def fill(shape, inputs, device):
    """Fills memory with NaN and releases it to torch's allocator, which returns it for the next tensor of its size."""
    floats = [x.dtype for x in inputs if x.is_floating_point()]
    torch.full(shape, torch.nan, dtype=floats[0] if floats else torch.float32, device=device)


def portable(result):
    """A result in a type of the protocol."""
    if result.is_floating_point():
        return result.float()
    return result.to(torch.uint8 if result.dtype == torch.bool else torch.int64)


@dataclass
class DeviceResult:
    """A result on one device."""

    tensor: torch.Tensor

    def shape(self):
        """Its shape."""
        return list(self.tensor.shape)

    def part(self, first, count):
        """Neighbouring elements on the host, in a type of the protocol."""
        return portable(self.tensor.reshape(-1)[first : first + count]).cpu()

    def drop(self):
        """Frees the memory, which other programs on the device need."""
        self.tensor = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class KeptResults:
    """The results that remain on a device, by number."""

    def __init__(self):
        self.found, self.numbers = {}, itertools.count(1)

    def keep(self, result):
        """The description of a result in a reply."""
        number = next(self.numbers)
        self.found[number] = result
        return {"result": number, "shape": result.shape()}

    def part(self, number, first, count):
        """Neighbouring elements of a result."""
        if number not in self.found:
            raise CallError(f"result {number} is not on the device")
        return self.found[number].part(first, count)

    def drop(self, number):
        """Frees a result."""
        if number in self.found:
            self.found.pop(number).drop()
