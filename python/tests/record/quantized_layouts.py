"""The layouts of quantized tensors, read with numpy: a second implementation of crates/checkpoints, for tests.

Each reader returns the values of a matrix [outputs, inputs] in float32, before they are rounded to a type, and for each the next smaller
and the next larger number that has a code in its group.
"""

import json
import struct

import numpy

TYPES = {
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I32": "<i4",
    "I64": "<i8",
    "I8": "i1",
    "U8": "u1",
    "F8_E4M3": "u1",
    "F8_E4M3FNUZ": "u1",
}
AWQ_ORDER = [0, 4, 1, 5, 2, 6, 3, 7]
E2M1 = numpy.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def read(path):
    """The tensors of a safetensors file, and the types by which it names them."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors, types = {}, {}
    for name, line in header.items():
        start, end = (8 + length + offset for offset in line["data_offsets"])
        found = numpy.frombuffer(content[start:end], TYPES[line["dtype"]]).reshape(line["shape"])
        tensors[name], types[name] = widened(found, line["dtype"]), line["dtype"]
    return tensors, types


def widened(found, dtype):
    """Values of bfloat16 as float32; all others as they are."""
    return (found.astype(numpy.uint32) << 16).view(numpy.float32) if dtype == "BF16" else found


def codes_of(words, bits, count):
    """`count` codes of a stream of bits along the last axis of 32-bit words, the lowest bits first."""
    bit = words.astype(numpy.int64)[..., None] >> numpy.arange(32) & 1
    bit = bit.reshape(*words.shape[:-1], -1)[..., : count * bits]
    return (bit.reshape(*words.shape[:-1], count, bits) << numpy.arange(bits)).sum(-1)


def affine(codes, zeros, scales, lowest, highest):
    """(code - zero point) * scale with the numbers beside it."""
    values = (numpy.float32(codes) - numpy.float32(zeros)) * numpy.float32(scales)
    step = numpy.broadcast_to(numpy.float32(scales), values.shape)
    return values, numpy.where(codes > lowest, values - step, values), numpy.where(codes < highest, values + step, values)


def table(codes, numbers, scales):
    """A number of a table times a scale, with the numbers beside it."""
    ordered = numpy.unique(numbers[numpy.isfinite(numbers)])
    values = numbers[codes]
    place = numpy.searchsorted(ordered, values)
    below, above = ordered[numpy.maximum(place - 1, 0)], ordered[numpy.minimum(place + 1, len(ordered) - 1)]
    return values * scales, below * scales, above * scales


def e4m3(bias):
    """The number of each byte. Without infinities, the largest exponent has numbers, too."""
    byte = numpy.arange(256)
    exponent, mantissa = byte >> 3 & 15, byte & 7
    normal, subnormal = (8 + mantissa) * 2.0 ** (exponent - bias - 3), mantissa * 2.0 ** (1 - bias - 3)
    numbers = numpy.where(exponent == 0, subnormal, normal) * numpy.where(byte & 128, -1, 1)
    for nan in [0x7F, 0xFF] if bias == 7 else [0x80]:
        numbers[nan] = numpy.nan
    return numpy.float32(numbers)


def gptq(parts, types, options):
    bits, inputs = options["bits"], parts["g_idx"].shape[0]
    outputs = parts["scales"].shape[1]
    codes = codes_of(parts["qweight"].T, bits, inputs)
    zeros = codes_of(parts["qzeros"], bits, outputs) + 1 & 2**bits - 1
    group = parts["g_idx"]
    return affine(codes, zeros[group].T, numpy.float32(parts["scales"])[group].T, 0, 2**bits - 1)


def awq(parts, types, options):
    def unpacked(words):
        nibbles = words.astype(numpy.int64)[..., None] >> 4 * numpy.array(AWQ_ORDER) & 15
        return nibbles.reshape(words.shape[0], -1)

    codes, zeros = unpacked(parts["qweight"]), unpacked(parts["qzeros"])
    group = numpy.arange(codes.shape[0]) // options["group_size"]
    return affine(codes.T, zeros[group].T, numpy.float32(parts["scales"])[group].T, 0, 15)


def fp8(parts, types, options):
    weight, scales = parts["weight"], parts["weight_scale_inv"]
    rows, columns = (size // grid for size, grid in zip(weight.shape, scales.shape or (1, 1), strict=True))
    scales = numpy.kron(scales.reshape(scales.shape or (1, 1)), numpy.ones((rows, columns), numpy.float32))
    return table(weight, e4m3(8 if types["weight"].endswith("FNUZ") else 7), scales)


def compressed_tensors(parts, types, options):
    scales = numpy.float32(parts["weight_scale"])
    if options["format"] == "float-quantized":
        return table(parts["weight"], e4m3(7), scales)
    if options["format"] == "int-quantized":
        return affine(parts["weight"], 0, scales, -128, 127)
    outputs, inputs = parts["weight_shape"]
    assert len(parts["weight_packed"]) == outputs
    scales = numpy.repeat(scales, inputs // scales.shape[1], axis=1)
    return affine(codes_of(parts["weight_packed"], 4, inputs), 8, scales, 0, 15)


def bitsandbytes(parts, types, options):
    if options["load_in_8bit"]:
        codes, largest = parts["weight"], parts["SCB"][:, None]
        assert parts["weight_format"] == 0
        values, step = numpy.float32(codes) * largest * numpy.float32(1 / 127), largest / 127
        return values, values - step, values + step
    state = json.loads(parts["weight.quant_state.bitsandbytes__nf4"].tobytes())
    codes = numpy.stack([parts["weight"] >> 4, parts["weight"] & 15], -1).reshape(-1)
    scales = numpy.repeat(parts["weight.absmax"], state["blocksize"])[: codes.size]
    found = table(codes, parts["weight.quant_map"], scales)
    return tuple(numbers.reshape(state["shape"]) for numbers in found)


def mxfp4(parts, types, options):
    """[experts, inputs, outputs]."""
    blocks, scales = parts["blocks"], parts["scales"]
    codes = numpy.stack([blocks & 15, blocks >> 4], -1).reshape(*scales.shape, -1)
    found = table(codes, E2M1, 2.0 ** (scales[..., None].astype(numpy.float32) - 127))
    return tuple(numbers.reshape(*scales.shape[:2], -1).transpose(0, 2, 1) for numbers in found)


READERS = {
    "awq": awq,
    "bitsandbytes": bitsandbytes,
    "compressed-tensors": compressed_tensors,
    "fp8": fp8,
    "gptq": gptq,
    "mxfp4": mxfp4,
}
