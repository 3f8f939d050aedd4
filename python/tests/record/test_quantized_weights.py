"""Synthetic weights that crates/checkpoints quantizes: numpy reads the committed files, and finds the dense weights again."""

import hashlib
import json

import numpy
import pytest

import quantized_layouts
from fixtures.paths import REPOSITORY
from quantized_layouts import READERS
from synthetic_weights import expanded, rounded, values

WRITTEN = REPOSITORY / "crates/checkpoints/src/tests/written"
SCHEMES = sorted(path.name for path in WRITTEN.iterdir())


class Checkpoint:
    """The committed files of a scheme."""

    def __init__(self, scheme):
        folder = WRITTEN / scheme
        self.recipe = json.loads((folder / "synthetic.json").read_text())
        self.options = json.loads((folder / "config.json").read_text())["quantization_config"]
        self.digests = json.loads((folder / "dequantized.json").read_text())
        self.tensors, self.types = quantized_layouts.read(folder / "model.safetensors")
        (self.layer,) = (tensor for tensor in expanded(self.recipe["tensors"]) if tensor.get("quantise"))
        # The parts follow the name of the module; of experts, the name of the tensor.
        self.module = self.layer["name"].removesuffix("weight")

    def part_names(self):
        """The names of the parts of the layer, without the name of the module."""
        start = self.module
        others = {tensor["name"] for tensor in self.recipe["tensors"] if not tensor.get("quantise")}
        return {name: name[len(start) :].removeprefix("_") for name in self.tensors if name.startswith(start) and name not in others}

    def parts(self):
        """The tensors that the layer is stored as, and their types."""
        names = self.part_names()
        return {short: self.tensors[name] for name, short in names.items()}, {short: self.types[name] for name, short in names.items()}

    def read(self, parts, types=None):
        """The layer, with the numbers beside each value."""
        types = types or self.parts()[1]
        return READERS[self.options["quant_method"]](parts, types, self.options)

    def dense(self):
        """The weights before they are quantized."""
        stored = numpy.frombuffer(values(self.recipe["seed"], self.layer), quantized_layouts.TYPES[self.layer["dtype"]])
        return numpy.float32(quantized_layouts.widened(stored, self.layer["dtype"])).reshape(self.layer["shape"])


def share_of_nearest(dense, found, below, above):
    """The share of values to which no number beside them is nearer. One in the middle of two, before scales are rounded, can be either."""
    step = numpy.maximum(above - found, found - below)
    off = numpy.abs(dense - found) - 0.01 * step
    is_nearest = (off <= numpy.abs(dense - below)) & (off <= numpy.abs(dense - above))
    # Values beyond the largest code are as near to it: MXFP4 has some at up to 4 / 3 of it, all others none.
    return (is_nearest & (off <= step)).mean()


@pytest.fixture(params=SCHEMES)
def checkpoint(request):
    return Checkpoint(request.param)


def test_each_code_is_the_nearest(checkpoint):
    found = checkpoint.read(checkpoint.parts()[0])
    assert found[0].shape == tuple(checkpoint.layer["shape"])
    assert share_of_nearest(checkpoint.dense(), *found) == 1


def test_numpy_and_the_library_of_the_method_read_the_same_weights(checkpoint):
    found = numpy.ascontiguousarray(checkpoint.read(checkpoint.parts()[0])[0], dtype=numpy.float32)
    expected = checkpoint.digests[checkpoint.layer["name"]]
    assert expected["shape"] == list(found.shape)
    assert hashlib.sha256(rounded(found, expected["dtype"]).tobytes()).hexdigest() == expected["sha256"]


def test_all_other_tensors_are_dense(checkpoint):
    others = [tensor for tensor in expanded(checkpoint.recipe["tensors"]) if not tensor.get("quantise")]
    assert len(others) == 2
    for tensor in others:
        content = values(checkpoint.recipe["seed"], tensor)
        assert hashlib.sha256(content).hexdigest() == checkpoint.digests[tensor["name"]]["sha256"]
        assert checkpoint.types[tensor["name"]] == tensor["dtype"]
    assert set(checkpoint.part_names()) | {tensor["name"] for tensor in others} == set(checkpoint.tensors)


def turned(axis):
    """Each gets the numbers of its neighbour."""
    return lambda found: numpy.roll(found, 1, axis)


def swapped_nibbles(words):
    octets = numpy.ascontiguousarray(words).view(numpy.uint8)
    return (octets << 4 | octets >> 4).view(words.dtype).reshape(words.shape)


FAULTS = {
    "wrong zero points of GPTQ": ("gptq-4-128", "qzeros", lambda words: words + numpy.int32(0x11111111)),
    "wrong zero points of GPTQ in 8 bits": ("gptq-8-128", "qzeros", lambda words: words + numpy.int32(0x01010101)),
    "groups of GPTQ in another order": ("gptq-4-128", "g_idx", lambda groups: groups[::-1]),
    "swapped nibbles of GPTQ": ("gptq-4-128", "qweight", swapped_nibbles),
    "words of GPTQ along the outputs": ("gptq-3-128", "qweight", turned(0)),
    "the scale of the next output in GPTQ": ("gptq-4-128", "scales", turned(1)),
    "the scale of the next group in GPTQ": ("gptq-4-128", "scales", turned(0)),
    "wrong zero points of AWQ": ("awq-4-128", "qzeros", lambda words: words + numpy.int32(0x11111111)),
    "swapped nibbles of AWQ": ("awq-4-128", "qweight", swapped_nibbles),
    "the scale of the next output in AWQ": ("awq-4-128", "scales", turned(1)),
    "the scale of the next block": ("fp8-block-128", "weight_scale_inv", turned(1)),
    "the scale of the next output in FP8": ("fp8-channel", "weight_scale_inv", turned(0)),
    "swapped nibbles of compressed-tensors": ("compressed-tensors-int4-128", "weight_packed", swapped_nibbles),
    "the scale of the next group in compressed-tensors": ("compressed-tensors-int4-128", "weight_scale", turned(1)),
    "the scale of the next output in integers": ("compressed-tensors-int8", "weight_scale", turned(0)),
    "the scale of the next output in floats": ("compressed-tensors-fp8", "weight_scale", turned(0)),
    "the scale of the next row": ("bnb-int8", "SCB", turned(0)),
    "swapped nibbles of NF4": ("bnb-nf4", "weight", swapped_nibbles),
    "the scale of the next block of NF4": ("bnb-nf4", "weight.absmax", turned(0)),
    "swapped nibbles of MXFP4": ("mxfp4", "blocks", swapped_nibbles),
    "the scale of the next block of MXFP4": ("mxfp4", "scales", turned(2)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name):
    scheme, part, change = FAULTS[name]
    checkpoint = Checkpoint(scheme)
    parts, _ = checkpoint.parts()
    found = checkpoint.read(parts | {part: change(parts[part])})
    assert share_of_nearest(checkpoint.dense(), *found) < 0.95


@pytest.mark.parametrize("scheme", ["fp8-block-128", "fp8-fnuz-block-128"])
def test_the_bias_of_the_other_vendor_is_found(scheme):
    checkpoint = Checkpoint(scheme)
    parts, types = checkpoint.parts()
    swapped = {"F8_E4M3": "F8_E4M3FNUZ", "F8_E4M3FNUZ": "F8_E4M3"}
    found = checkpoint.read(parts, types | {"weight": swapped[types["weight"]]})
    assert share_of_nearest(checkpoint.dense(), *found) < 0.1
