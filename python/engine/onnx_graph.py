"""The graph of a checkpoint: finding and examining it. Part of the engine `onnxruntime`."""

import os
import stat

import onnx
from onnx.external_data_helper import uses_external_data

from engine.engine_protocol import CallError, Unsupported
from engine.onnx_digest import FOLDER_VARIABLE, digest

# As the repositories of the Hub name it.
NAMES = ("model.onnx", os.path.join("onnx", "model.onnx"))
# The format ends at 2 GiB; larger weights are in files of their own.
LIMIT = 2 << 30


def find(directory, class_name):
    """The path of the graph: part of the checkpoint, else exported by `testgen export`."""
    found = [path for path in (os.path.join(directory, name) for name in NAMES) if os.path.lexists(path)]
    folder = os.environ.get(FOLDER_VARIABLE)
    if not found and folder:
        exported = os.path.join(folder, digest(directory), class_name, "model.onnx")
        found = [exported] if os.path.exists(exported) else []
    if not found:
        raise Unsupported(f"the checkpoint has no model.onnx; `testgen export` exports `{class_name}` through torch")
    examine(found[0], directory if found[0].startswith(directory) else os.path.dirname(found[0]))
    return found[0]


def examine(path, root):
    """Refuses files that are not regular or too large, and weights outside of the directory."""
    size = regular(path, root)
    if size > LIMIT:
        raise CallError(f"`{path}` has {size} bytes, more than the {LIMIT} of the format")
    folder = os.path.dirname(path)
    for tensor in tensors(onnx.load(path, load_external_data=False).graph):
        if uses_external_data(tensor):
            entry = {item.key: item.value for item in tensor.external_data}
            location = entry.get("location", "")
            if not location or os.path.isabs(location) or ".." in location.split("/"):
                raise CallError(f"`{path}` names weights outside of its directory: `{location}`")
            end = int(entry.get("offset", 0)) + int(entry.get("length", 0))
            if end > (size := regular(os.path.join(folder, location), root)):
                raise CallError(f"`{tensor.name}` of `{path}` ends at byte {end} of `{location}`, which has {size}")


def regular(path, root):
    """The size of a regular file within `root`, or within the blobs of the Hub's cache that `root` is a snapshot of."""
    real, root = os.path.realpath(path), os.path.realpath(root)
    blobs = os.path.join(os.path.dirname(os.path.dirname(root)), "blobs") if "/snapshots/" in root else root
    if not any(os.path.commonpath([real, folder]) == folder for folder in (root, blobs)):
        raise CallError(f"`{path}` leads out of `{root}`")
    status = os.stat(real)
    if not stat.S_ISREG(status.st_mode):
        raise CallError(f"`{path}` is not a regular file")
    return status.st_size


def tensors(graph):
    """Every constant of a graph and of the graphs within its nodes."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from tensors(inner)
