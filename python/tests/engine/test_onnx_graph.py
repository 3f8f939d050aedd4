"""Graphs that others made: what the engine `onnxruntime` refuses, and which weights it finds in them."""

import os

import numpy
import onnx
import pytest
import safetensors.numpy
from onnx import TensorProto, helper, numpy_helper

from engine import onnx_account, onnx_graph
from engine.engine_protocol import CallError, Unsupported

WEIGHT = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def model(weight=WEIGHT, key=None):
    """A graph of one product."""
    constants = [numpy_helper.from_array(weight, "renamed")]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, weight.shape[0]])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, weight.shape[1]])]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "renamed"], ["y"])], "graph", inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if key is not None:
        helper.set_model_props(made, {key: "torch 2.15"})
    return made


def checkpoint(folder, weight=WEIGHT):
    """A checkpoint of one weight."""
    folder.joinpath("config.json").write_text("{}")
    safetensors.numpy.save_file({"linear.weight": numpy.ascontiguousarray(weight)}, folder / "model.safetensors")
    return str(folder)


def external(folder, location, length="24", offset="0"):
    """A graph whose weight is in another file."""
    made = model()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=value)
    folder.joinpath("model.onnx").write_bytes(made.SerializeToString())


@pytest.mark.parametrize("location", ["/etc/passwd", "../weights", "a/../../weights", ""])
def test_weights_outside_of_the_directory_are_refused(tmp_path, location):
    external(tmp_path, location)
    with pytest.raises(CallError, match="outside of its directory"):
        onnx_graph.find(checkpoint(tmp_path), "Model")


def test_a_link_that_leads_out_is_refused(tmp_path):
    inside = tmp_path / "checkpoint"
    inside.mkdir()
    (tmp_path / "weights").write_bytes(b"x" * 24)
    (inside / "weights").symlink_to(tmp_path / "weights")
    external(inside, "weights")
    with pytest.raises(CallError, match="leads out of"):
        onnx_graph.find(checkpoint(inside), "Model")


def test_links_of_the_cache_of_the_hub_are_followed(tmp_path):
    snapshot, blobs = tmp_path / "models--a--b/snapshots/0123", tmp_path / "models--a--b/blobs"
    (snapshot / "onnx").mkdir(parents=True)
    blobs.mkdir()
    external(blobs, "model.onnx_data")
    (blobs / "model.onnx").rename(blobs / "aa")
    (blobs / "bb").write_bytes(b"x" * 24)
    (snapshot / "onnx/model.onnx").symlink_to("../../../blobs/aa")
    (snapshot / "onnx/model.onnx_data").symlink_to("../../../blobs/bb")
    assert onnx_graph.find(checkpoint(snapshot), "Model") == str(snapshot / "onnx/model.onnx")


def test_weights_beyond_the_end_of_their_file_are_refused(tmp_path):
    (tmp_path / "weights").write_bytes(b"x" * 23)
    external(tmp_path, "weights")
    with pytest.raises(CallError, match="ends at byte 24 of `weights`, which has 23"):
        onnx_graph.find(checkpoint(tmp_path), "Model")


def test_a_graph_over_the_limit_is_refused_without_reading(tmp_path):
    with open(tmp_path / "model.onnx", "wb") as file:
        file.truncate(onnx_graph.LIMIT + 1)
    with pytest.raises(CallError, match="more than the 2147483648 of the format"):
        onnx_graph.find(checkpoint(tmp_path), "Model")


def test_a_fifo_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "model.onnx")
    with pytest.raises(CallError, match="not a regular file"):
        onnx_graph.find(checkpoint(tmp_path), "Model")


def test_without_a_graph_the_command_is_named(tmp_path, monkeypatch):
    for folder in (None, str(tmp_path)):
        monkeypatch.setenv("TESTGEN_ONNX", folder or "")
        with pytest.raises(Unsupported, match="`testgen export` exports `Model`"):
            onnx_graph.find(checkpoint(tmp_path), "Model")


def test_an_exported_graph_belongs_to_its_weights(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTGEN_ONNX", str(tmp_path / "graphs"))
    (tmp_path / "checkpoint").mkdir()
    directory = checkpoint(tmp_path / "checkpoint")
    target = tmp_path / "graphs" / onnx_graph.digest(directory) / "Model"
    target.mkdir(parents=True)
    onnx.save(model(), target / "model.onnx")
    assert onnx_graph.find(directory, "Model") == str(target / "model.onnx")
    checkpoint(tmp_path / "checkpoint", WEIGHT + 1)
    with pytest.raises(Unsupported):
        onnx_graph.find(directory, "Model")


@pytest.mark.parametrize("weight", [WEIGHT, WEIGHT.T, WEIGHT.reshape(2, 3, 1), numpy.concatenate([WEIGHT, WEIGHT])])
def test_renamed_transposed_and_split_weights_are_found(tmp_path, weight):
    onnx.save(model(), tmp_path / "model.onnx")
    found = onnx_account.account(checkpoint(tmp_path, weight), str(tmp_path / "model.onnx"))
    assert (found.read, found.unused, found.folded) == (["linear.weight"], [], None)


def test_a_changed_weight_is_not_found(tmp_path):
    changed = WEIGHT.copy()
    changed[1, 2] = numpy.nextafter(changed[1, 2], 9, dtype=numpy.float32)
    directory = checkpoint(tmp_path, changed)
    onnx.save(model(), tmp_path / "model.onnx")
    found = onnx_account.account(directory, str(tmp_path / "model.onnx"))
    # Exporters fold weights, so that another one's graph shows nothing.
    assert found.unused == [] and "1 of 1 tensors" in found.folded
    onnx.save(model(key=onnx_account.EXPORTER_KEY), tmp_path / "model.onnx")
    found = onnx_account.account(directory, str(tmp_path / "model.onnx"))
    assert (found.read, found.unused, found.folded) == ([], ["linear.weight"], None)


def test_a_weight_that_the_exporter_saw_without_a_use_is_not_missing(tmp_path):
    made = model(key=onnx_account.EXPORTER_KEY)
    made.metadata_props.add(key=onnx_account.UNUSED_KEY, value=onnx_account.fingerprint(WEIGHT + 1).hex())
    onnx.save(made, tmp_path / "model.onnx")
    found = onnx_account.account(checkpoint(tmp_path, WEIGHT + 1), str(tmp_path / "model.onnx"))
    assert (found.read, found.unused) == (["linear.weight"], [])
    found = onnx_account.account(checkpoint(tmp_path, WEIGHT + 2), str(tmp_path / "model.onnx"))
    assert found.unused == ["linear.weight"]
