"""The weights of a synthetic checkpoint, computed with numpy: a second implementation of crates/checkpoints, for tests."""

import json
import struct

import numpy

from record.random_numbers import nearly_normal

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
    count = int(numpy.prod(tensor["shape"], dtype=numpy.int64))
    found = nearly_normal(f"{seed}:{tensor['name']}", count, tensor["mean"], tensor["std"])
    return rounded(found, tensor["dtype"]).tobytes()


def rounded(found, dtype):
    """Values of float32 in a type, ties to even."""
    if dtype == "BF16":
        bits = found.view(numpy.uint32)
        return ((bits + numpy.uint32(0x7FFF) + (bits >> numpy.uint32(16) & numpy.uint32(1))) >> numpy.uint32(16)).astype("<u2")
    return found.astype({"F32": "<f4", "F16": "<f2"}[dtype])
