"""The content of `golden.safetensors`."""

import json
import struct

import torch

# The types of the golden format, the narrowest first.
KINDS = {
    torch.uint8: "U8",
    torch.int8: "I8",
    torch.int16: "I16",
    torch.int32: "I32",
    torch.int64: "I64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float32: "F32",
}


def safetensors_of(tensors, metadata):
    """The bytes of a safetensors file with sorted metadata; the order of the safetensors library changes from run to run."""
    tensors = {name: narrowest(value.detach()) for name, value in tensors.items()}
    header, position = {"__metadata__": dict(sorted(metadata.items()))}, 0
    names = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    for name in names:
        tensor = tensors[name]
        span = [position, position + tensor.nbytes]
        header[name] = {"dtype": KINDS[tensor.dtype], "shape": list(tensor.shape), "data_offsets": span}
        position = span[1]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(content_of(tensors[name]) for name in names)


def narrowest(tensor):
    """The same values in the narrowest type that represents all of them; bytes are images and stay bytes."""
    if tensor.dtype == torch.uint8:
        return tensor
    kinds = [dtype for dtype in KINDS if dtype.is_floating_point == tensor.is_floating_point() and dtype != torch.uint8]
    return next((tensor.to(dtype) for dtype in kinds if torch.equal(tensor.to(dtype).to(tensor.dtype), tensor)), tensor)


def content_of(tensor):
    """The elements as bytes."""
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()
