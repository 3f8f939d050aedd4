"""Writes `golden.safetensors`: part of the recorder `goldens.py`."""

import contextlib
import json
import os
import struct

import numpy


def write_safetensors(path, tensors, metadata):
    """Own code, because the safetensors library does not keep metadata in a fixed order."""
    arrays = {name: numpy.ascontiguousarray(value.detach().numpy()) for name, value in tensors.items()}
    kinds = {"float32": "F32", "int64": "I64", "uint8": "U8"}
    header, position = {"__metadata__": dict(sorted(metadata.items()))}, 0
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in names:
        array = arrays[name]
        span = [position, position + array.nbytes]
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape), "data_offsets": span}
        position = span[1]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    content = struct.pack("<Q", len(text)) + text + b"".join(arrays[name].tobytes() for name in names)
    replace_file(path, content)


def replace_file(path, content):
    """Renames a finished temporary file to `path`, so that no reader ever sees half of it."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
