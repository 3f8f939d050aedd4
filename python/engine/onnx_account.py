"""The tensors of a checkpoint that are in its graph, by their values: part of the engine `onnxruntime`.

Exporters rename weights and transpose matrices, so that names show nothing.
"""

import functools
import hashlib
import os
from dataclasses import dataclass

import numpy
import onnx
from onnx import numpy_helper
from safetensors import safe_open

from engine.onnx_digest import identity
from engine.onnx_graph import tensors
from reference.weight_files import weight_files

# testgen's own exports do not fold weights, so that each must be found.
EXPORTER_KEY = "testgen.export"
# The fingerprints of the weights that the exporter saw without a use, such as those of training.
UNUSED_KEY = "testgen.export.unused"
# Counters of training in normalisation layers.
NOT_WEIGHTS = ("num_batches_tracked",)
NAMED = 3


@dataclass
class Account:
    """The tensors of a checkpoint that are in the graph, those that are not, and the reason if that shows nothing."""

    read: list
    unused: list
    folded: str | None


def account(directory, path):
    """The account of a graph; of the last ones that were asked for without reading them again."""
    files = (path, *weight_files(directory))
    return of_files(tuple((file, *identity(file)) for file in files))


@functools.lru_cache(maxsize=64)
def of_files(files):
    """The account of a graph, whose file is the first, and of the files with weights."""
    path, *weights = [name for name, *_ in files]
    model = onnx.load(path)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    constants = {bytes.fromhex(known) for known in metadata.get(UNUSED_KEY, "").split()}
    for tensor in tensors(model.graph):
        constants |= digests(numpy_helper.to_array(tensor, base_dir=os.path.dirname(path)))
    read, unused = [], []
    for name, value in checkpoint_tensors(weights):
        found = name.endswith(NOT_WEIGHTS) or is_among(value, constants)
        (read if found else unused).append(name)
    read, unused = sorted(read), sorted(unused)
    if not unused or EXPORTER_KEY in metadata:
        return Account(read, unused, None)
    names = "`, `".join(unused[:NAMED])
    of = f"{len(unused)} of {len(read) + len(unused)} tensors"
    why = f"{of} of the checkpoint are not among the constants of `{os.path.basename(path)}`, which its exporter may have folded: `{names}`"
    return Account(read + unused, [], why)


def is_among(value, constants):
    """Whether a tensor is a constant, or two or three: transformers splits some matrices when it loads them."""
    counts = [count for count in (1, 2, 3) if value.ndim and value.shape[0] % count == 0] or [1]
    parts = ((numpy.split(value, count) if count > 1 else [value]) for count in counts)
    return any(all(fingerprint(part) in constants for part in pieces) for pieces in parts)


def digests(array):
    """Fingerprints of a constant and, if it is a matrix, of its transpose; none of integers."""
    if array.dtype.kind != "f" and array.dtype.name != "bfloat16":
        return set()
    turned = [array.T] if array.ndim == 2 else []
    return {fingerprint(numpy.asarray(value, numpy.float32)) for value in (array, *turned)}


def fingerprint(array):
    """Of the values in order, whatever the shape is: exporters add and remove dimensions of size 1."""
    return hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).digest()


def checkpoint_tensors(files):
    """Names and values as f32."""
    for path in files:
        with safe_open(path, "numpy") as opened:
            # `keys`, because the object cannot be iterated in all versions.
            for name in opened.keys():  # noqa: SIM118
                # NumPy knows bf16 through onnx's package ml_dtypes.
                yield name, opened.get_tensor(name).astype(numpy.float32)
