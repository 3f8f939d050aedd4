"""The digest of a checkpoint, which names its exported graphs: part of the engine `onnxruntime` and of `testgen export`."""

import functools
import hashlib
import os

from reference.weight_files import weight_files

# Where exported graphs are kept: <folder>/<digest of the checkpoint>/<class>/model.onnx.
FOLDER_VARIABLE = "TESTGEN_ONNX"


def digest(directory):
    """SHA-256 of config.json and the weights: the parts of a checkpoint that decide its graph."""
    files = [os.path.join(directory, "config.json"), *weight_files(directory)]
    # Large files are read once, unless they change.
    return of_files(tuple((path, *identity(path)) for path in files))


@functools.lru_cache(maxsize=64)
def of_files(files):
    """The digest of files with their sizes and times."""
    total = hashlib.sha256()
    for path, *_ in files:
        with open(path, "rb") as file:
            total.update(f"{os.path.basename(path)}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def identity(path):
    """Size and time of a file."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
