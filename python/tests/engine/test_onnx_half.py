"""Graphs that the engine `onnxruntime` converts to half precision."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import onnx_half
from engine.engine_protocol import Unsupported


def saved(folder, nodes, inputs, outputs):
    """The path of a graph with the weight `w`."""
    weight = numpy_helper.from_array(numpy.arange(6, dtype=numpy.float32).reshape(2, 3), "w")
    values = [[helper.make_tensor_value_info(name, kind, None) for name, kind in side.items()] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "graph", *values, [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    return str(folder / "model.onnx")


def run(path, **inputs):
    """The session in f16 and its outputs."""
    from engine.onnx_provider import Device
    from engine.onnx_session import GraphSession

    with onnx_half.in_type(path, "f16") as converted:
        session = GraphSession(converted, Device())
        return session, session.run(inputs)


def test_half_precision_is_converted(tmp_path):
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    session, found = run(saved(tmp_path, [product], {"x": 1}, {"y": 1}), x=numpy.ones((1, 2), numpy.float16))
    assert found["y"].dtype == numpy.float16 and found["y"].tolist() == [[3, 5, 7]]
    assert session.shares[0]["provider"] == "CPUExecutionProvider" and session.shares[0]["nodes"] > 0
    with pytest.raises(Unsupported, match="not to bf16"), onnx_half.in_type("", "bf16"):
        pass


@pytest.mark.parametrize(("attribute", "value"), [("value_float", 2.0), ("value_floats", [2.0])])
def test_constants_that_are_attributes_are_converted(tmp_path, attribute, value):
    """As torch exports the masks of most models; the converter alone leaves the type f32, which makes the graph invalid."""
    nodes = [
        helper.make_node("Constant", [], ["two"], **{attribute: value}),
        helper.make_node("Identity", ["two"], ["factor"]),
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Mul", ["product", "factor"], ["y"]),
    ]
    _, found = run(saved(tmp_path, nodes, {"x": 1}, {"y": 1}), x=numpy.ones((1, 2), numpy.float16))
    assert found["y"].dtype == numpy.float16 and found["y"].tolist() == [[6, 10, 14]]


@pytest.mark.parametrize(("named", "exact"), [("fmak", ["a", "f", "k", "m"]), ("k", ["k"]), ("fma", [])])
def test_numbers_that_become_integers_are_not_rounded(tmp_path, named, exact):
    """As relative positions become buckets. A node without a name cannot be excepted."""
    tenth = numpy_helper.from_array(numpy.array(0.1, numpy.float32))
    nodes = [
        helper.make_node("Constant", [], ["tenth"], name="tenth", value=tenth),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "tenth"], ["m"]),
        helper.make_node("Abs", ["m"], ["a"]),
        helper.make_node("Cast", ["a"], ["k"], to=TensorProto.INT64),
    ]
    for node in nodes[1:]:
        node.name = node.output[0] if node.output[0] in named else ""
    nodes.append(helper.make_node("MatMul", ["x", "w"], ["y"], name="y"))
    path = saved(tmp_path, nodes, {"i": TensorProto.INT64, "x": 1}, {"k": TensorProto.INT64, "y": 1})
    found = onnx_half.before_integers(onnx.shape_inference.infer_shapes(onnx.load(path)).graph)
    assert [name for name in found if name != "tenth"] == exact
    if len(exact) > 1:
        numbers = numpy.array([10, 4000, 40970])
        _, found = run(path, i=numbers, x=numpy.ones((1, 2), numpy.float16))
        assert found["k"].tolist() == [1, 400, 4097] and found["y"].dtype == numpy.float16
