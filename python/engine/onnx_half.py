"""The conversion of a graph to half precision: part of the engine `onnxruntime`."""

import contextlib
import os
import tempfile

import numpy
import onnx
from onnx import TensorProto, numpy_helper

from engine.engine_protocol import Unsupported
from engine.onnx_graph import LIMIT

INTEGERS = (TensorProto.INT32, TensorProto.INT64)


@contextlib.contextmanager
def in_type(path, dtype):
    """The path of the graph in a type of the protocol."""
    if dtype in ("f32", "tf32"):
        yield path
        return
    if dtype != "f16":
        raise Unsupported(f"ONNX Runtime converts graphs to f16, not to {dtype}")
    from onnxruntime.transformers.float16 import convert_float_to_float16

    model = onnx.load(path)
    floats_as_tensors(model.graph)
    # The types decide where conversions are inserted; their inference ends at the size of the format.
    if model.ByteSize() < LIMIT:
        model = onnx.shape_inference.infer_shapes(model)
    exact = before_integers(model.graph)
    converted = convert_float_to_float16(model, disable_shape_infer=True, node_block_list=exact)
    remove_rounding(converted.graph, exact)
    with tempfile.TemporaryDirectory(prefix="testgen-f16-") as directory:
        target = os.path.join(directory, "model.onnx")
        onnx.save_model(converted, target, save_as_external_data=True, location="weights")
        yield target


def floats_as_tensors(graph):
    """Stores constants that are attributes of another kind as tensors, the only ones that the converter converts."""
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.name in ("value_float", "value_floats"):
            value = attribute.f if attribute.name == "value_float" else attribute.floats
            attribute.CopyFrom(onnx.helper.make_attribute("value", numpy_helper.from_array(numpy.array(value, numpy.float32))))
        for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            floats_as_tensors(inner)


def before_integers(graph):
    """Names of the nodes whose numbers become integers, such as the buckets of distances. transformers computes them in f32 in every
    precision; rounded to f16, they fall into other buckets."""
    floats = {value.name for value in (*graph.value_info, *graph.input) if value.type.tensor_type.elem_type == TensorProto.FLOAT}
    makers = {name: node for node in graph.node for name in node.output}
    # Without a name a node cannot be excepted.
    targets = [node for node in graph.node if node.name and becomes(node, INTEGERS) and node.input[0] in floats]
    found = {node.name for node in targets}
    pending = [node.input[0] for node in targets]
    while pending:
        name = pending.pop()
        maker = makers.get(name)
        if name in floats and maker is not None and maker.name and maker.name not in found:
            found.add(maker.name)
            pending.extend(maker.input)
    return sorted(found)


def remove_rounding(graph, exact):
    """Connects excepted nodes directly: the converter puts a conversion to f16 and one to f32 between them."""
    makers = {name: node for node in graph.node for name in node.output}
    for node in (node for node in graph.node if node.name in exact):
        for index, name in enumerate(node.input):
            wider = makers.get(name)
            rounded = wider and becomes(wider, (TensorProto.FLOAT,)) and makers.get(wider.input[0])
            source = rounded and becomes(rounded, (TensorProto.FLOAT16,)) and makers.get(rounded.input[0])
            if source and source.name in exact:
                node.input[index] = rounded.input[0]


def becomes(node, types):
    """Whether the node is a conversion to one of the types."""
    return node.op_type == "Cast" and any(entry.name == "to" and entry.i in types for entry in node.attribute)
