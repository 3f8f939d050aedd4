"""Models on a GPU, on a build of ONNX Runtime that is not installed here."""

import numpy
import onnx
import pytest
import safetensors.numpy
from onnx import TensorProto, helper

from stub_onnxruntime import install, operands

ROCM = {"kind": "rocm", "index": 0, "uuid": None, "pci_address": "0000:03:00.0"}
GPU = {"name": "amd instinct mi300x", "pci_address": "0000:03:00.0"}
ON_GPU = ("MGXKernel_graph_0", "MGXKernel_graph", "MIGraphX")


def opened(nodes=(), options=()):
    """The calls of an engine on an AMD GPU."""
    state, _ = install(["MIGraphX"], nodes=nodes, gpus=[GPU])
    from engine.onnx_calls import Calls

    calls = Calls(list(options))
    calls.open({}, ROCM)
    return state, calls


def checkpoint(folder):
    """The arguments of `load` for a checkpoint with a graph."""
    folder.joinpath("config.json").write_text("{}")
    safetensors.numpy.save_file({}, folder / "model.safetensors")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("left", "right", "result")]
    graph = helper.make_graph([helper.make_node("Add", ["left", "right"], ["result"])], "graph", values[:-1], values[-1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    return {"directory": str(folder), "model_type": "bert", "dtype": "f32", "class": "BertModel"}


def test_a_graph_on_the_gpu_is_placed_there(tmp_path):
    _, calls = opened([ON_GPU, ("shape", "Shape", "CPU")])
    reply, _ = calls.load({}, **checkpoint(tmp_path))
    assert set(reply["lacks"]) == {"hidden_states", "configuration"}
    reply, tensors = calls.forward(operands(), model=reply["model"], traced=True)
    assert reply["placements"] == [{"name": "output.result", "device": "rocm", "dtype": "f32"}]
    assert [share["provider"] for share in reply["providers"]] == ["CPUExecutionProvider", "MIGraphXExecutionProvider"]
    assert tensors["output.result"].tolist() == [2, 2, 2]


@pytest.mark.parametrize(("dtype", "name"), [("float64", "f32"), ("float32", "f32"), ("float16", "f16"), ("int32", None)])
def test_numbers_of_every_type_remain_numbers(tmp_path, dtype, name):
    _, calls = opened([ON_GPU])
    reply, _ = calls.load({}, **checkpoint(tmp_path))
    halves = {"left": numpy.full(3, 0.5, dtype), "right": numpy.full(3, 1.0, dtype)}
    calls.models[reply["model"]].run = lambda _: {"result": halves["left"] + halves["right"]}
    reply, tensors = calls.forward(operands(), model=reply["model"], traced=False)
    assert [placement["dtype"] for placement in reply["placements"]] == ([name] if name else [])
    assert tensors["output.result"].tolist() == [1.5 if name else 1.0] * 3
    assert tensors["output.result"].dtype == (numpy.float32 if name else numpy.int64)


@pytest.mark.parametrize("nodes", [[ON_GPU, ("layer.1", "MatMul", "CPU")], [("layer.1", "Add", "CPU")]])
def test_a_graph_whose_work_is_done_by_the_cpu_is_placed_there(tmp_path, nodes):
    _, calls = opened(nodes)
    reply, _ = calls.load({}, **checkpoint(tmp_path))
    reply, _ = calls.forward(operands(), model=reply["model"], traced=False)
    assert reply["placements"][0]["device"] == "cpu"


def test_a_session_without_the_provider_of_the_device_does_not_load(tmp_path):
    state, calls = opened()
    state.starting.remove("MIGraphXExecutionProvider")
    with pytest.raises(Exception, match="has CPUExecutionProvider, not MIGraphXExecutionProvider"):
        calls.load({}, **checkpoint(tmp_path))


def test_calls_that_a_graph_cannot_answer_are_refused(tmp_path):
    from engine.engine_protocol import Unsupported

    _, calls = opened()
    with pytest.raises(Unsupported, match="configuration is part of"):
        calls.load({}, config={}, **checkpoint(tmp_path))
    with pytest.raises(Unsupported, match="without a cache"):
        calls.open_session({}, model=1)
    assert calls.memory({}) == ({}, {})


def test_options_are_those_of_the_documentation():
    for options, part in ((["eager"], "has no option `eager`"), (["rocm", "migraphx"], "two execution providers")):
        with pytest.raises(Exception, match=part):
            opened(options=options)


def test_inputs_that_a_call_leaves_out_are_those_of_transformers():
    install(["MIGraphX"])
    from engine import onnx_calls

    names = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    inputs = {name: type("Input", (), {"type": "tensor(int64)"}) for name in names}
    found = onnx_calls.arguments(inputs, {"input_ids": numpy.array([[5, 6, 7]] * 2)})
    assert {name: value.tolist()[1] for name, value in found.items()} == {
        "input_ids": [5, 6, 7],
        "attention_mask": [1, 1, 1],
        "token_type_ids": [0, 0, 0],
        "position_ids": [0, 1, 2],
    }
    with pytest.raises(Exception, match="has no input `labels`"):
        onnx_calls.arguments(inputs, {"input_ids": numpy.ones((1, 1)), "labels": numpy.ones(1)})
    with pytest.raises(Exception, match="needs the input `pixel_values`"):
        onnx_calls.arguments({"pixel_values": None}, {})
