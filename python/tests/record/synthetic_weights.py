"""The weights of a synthetic checkpoint, computed with numpy: a second implementation of crates/checkpoints, for tests."""

import hashlib
import json
import struct

import numpy

CENTRE = 131070
# The standard deviation of the sum of four integers from 0 to 65535.
SUM_STD = numpy.float32(((2**32 - 1) / 3) ** 0.5)
WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}


def safetensors_of(recipe):
    """The bytes of `model.safetensors`."""
    tensors = sorted(expanded(recipe["tensors"]), key=lambda tensor: -WIDTHS[tensor["dtype"]])
    header, position, content = {"__metadata__": {"format": "pt"}}, 0, []
    for tensor in tensors:
        content.append(values(recipe["seed"], tensor))
        end = position + len(content[-1])
        header[tensor["name"]] = {"dtype": tensor["dtype"], "shape": tensor["shape"], "data_offsets": [position, end]}
        position = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(content)


def expanded(groups):
    """Each tensor of each group."""
    for group in groups:
        for number in range(group.get("count", 1)):
            name = group["name"].replace("*", str(number), 1) if "count" in group else group["name"]
            yield group | {"name": name}


def values(seed, tensor):
    """The bytes of one tensor."""
    key = numpy.frombuffer(hashlib.sha256(f"{seed}:{tensor['name']}".encode()).digest()[:16], "<u8")
    count = int(numpy.prod(tensor["shape"], dtype=numpy.int64))
    words = numpy.random.Philox(key=key).random_raw(count)
    total = sum((words >> numpy.uint64(shift) & numpy.uint64(0xFFFF)).astype(numpy.int32) for shift in (0, 16, 32, 48))
    scale = numpy.float32(tensor["std"]) / SUM_STD
    found = numpy.float32(tensor["mean"]) + scale * (total - CENTRE).astype(numpy.float32)
    return rounded(found, tensor["dtype"]).tobytes()


def rounded(found, dtype):
    """Values of float32 in a type, ties to even."""
    if dtype == "BF16":
        bits = found.view(numpy.uint32)
        return ((bits + numpy.uint32(0x7FFF) + (bits >> numpy.uint32(16) & numpy.uint32(1))) >> numpy.uint32(16)).astype("<u2")
    return found.astype({"F32": "<f4", "F16": "<f2"}[dtype])
