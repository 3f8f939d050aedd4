"""Graphs of one operation, which show what a provider computes: part of the engine `onnxruntime`."""

import numpy
from onnx import TensorProto, helper

from engine.engine_protocol import CallError, Unsupported
from engine.onnx_session import GraphSession, is_not_implemented

TYPES = {"f32": TensorProto.FLOAT, "tf32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
OPERATIONS = {
    "cast": ("Identity", ("left",)),
    "add": ("Add", ("left", "right")),
    "multiply": ("Mul", ("left", "right")),
    "matrix_product": ("MatMul", ("left", "right")),
    "sum": ("ReduceSum", ("left",)),
}


class Operations:
    """The sessions of the operations, each created once."""

    def __init__(self, device):
        self.device, self.sessions = device, {}

    def compute(self, operation, dtype, result, tensors):
        """The result as f32."""
        self.refuse_type(dtype)
        self.refuse_type(result)
        session = self.session(operation, dtype, result)
        exchanged = numpy.float16 if dtype == "f16" else numpy.float32
        found = session.run({name: array.astype(exchanged) for name, array in tensors.items() if name in session.inputs})["result"]
        on = session.computed_on()
        # An operation that ran elsewhere shows nothing about the device. A conversion has no node that must run there.
        if operation != "cast" and on != self.device.kind:
            raise CallError(f"`{operation}` in {dtype} ran on {on}: {described(session.shares)}")
        return found.astype(numpy.float32).reshape(-1) if operation == "sum" else found.astype(numpy.float32)

    def session(self, operation, dtype, result):
        """The session of an operation."""
        key = (operation, dtype, result)
        if key not in self.sessions:
            self.sessions[key] = GraphSession(graph(*key), self.device, tf32=dtype == "tf32")
        return self.sessions[key]

    def refuse_type(self, dtype):
        """A type without products is not supported, although its values can be converted."""
        try:
            self.session("matrix_product", dtype, dtype)
        except Exception as error:
            if not is_not_implemented(error):
                raise
            raise Unsupported(f"the execution provider `{self.device.provider}` has no products of {dtype}") from error


def graph(operation, dtype, result):
    """The operation on operands of `dtype`, converted to `result`. NumPy has no bf16, so that it is exchanged as f32."""
    node, names = OPERATIONS[operation]
    own, target = TYPES[dtype], TYPES[result]
    exchanged = {TensorProto.BFLOAT16: TensorProto.FLOAT}
    nodes, operands = [], list(names)
    if own in exchanged:
        operands = [f"{name}_converted" for name in names]
        nodes += [helper.make_node("Cast", [name], [operand], to=own) for name, operand in zip(names, operands, strict=True)]
    nodes.append(helper.make_node(node, operands, ["computed"]))
    nodes.append(helper.make_node("Cast", ["computed"], ["converted"], to=target))
    nodes.append(helper.make_node("Cast", ["converted"], ["result"], to=exchanged.get(target, target)))
    inputs = [helper.make_tensor_value_info(name, exchanged.get(own, own), None) for name in names]
    outputs = [helper.make_tensor_value_info("result", exchanged.get(target, target), None)]
    made = helper.make_graph(nodes, operation, inputs, outputs)
    # Versions that every supported ONNX Runtime reads.
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def described(shares):
    """One line about the nodes of each provider."""
    return ", ".join(f"{share['nodes']} nodes on {share['provider']}" for share in shares)
