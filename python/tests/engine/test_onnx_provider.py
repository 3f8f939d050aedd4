"""The device that the engine `onnxruntime` reports, on builds of ONNX Runtime that are not installed here."""

import pytest

from engine.engine_protocol import Unsupported
from stub_onnxruntime import install, operands

ADDRESS = "0000:03:00.0"
ROCM = {"kind": "rocm", "index": 0, "uuid": "GPU-81a38d5e", "pci_address": ADDRESS}
CUDA = ROCM | {"kind": "cuda"}
GPU = {"name": "amd instinct mi300x", "pci_address": ADDRESS}


@pytest.mark.parametrize(("built", "provider"), [("MIGraphX", "migraphx"), ("ROCM", "rocm")])
def test_a_build_for_amd_reports_rocm(built, provider):
    state, module = install([built], gpus=[GPU | {"pci_address": "0000:09:00.0"}, GPU])
    device = module.Device()
    reply = device.open(ROCM)
    assert reply == {"device": {"kind": "rocm", **GPU}}
    assert (device.build(), device.provider) == ("hip", provider)
    assert state.sessions[-1] == [(f"{built}ExecutionProvider", {"device_id": "1"}), "CPUExecutionProvider"]


def test_the_gpus_of_the_build_are_listed():
    _, module = install(["MIGraphX"], gpus=[GPU])
    assert module.Device().listed() == [{"kind": "rocm", **GPU}]
    _, module = install([], gpus=[GPU])
    assert module.Device().listed() == []


def test_migraphx_is_preferred_and_an_option_names_the_other():
    _, module = install(["ROCM", "MIGraphX"], gpus=[GPU])
    device = module.Device()
    device.open(ROCM)
    assert device.provider == "migraphx"
    device = module.Device("rocm")
    device.open(ROCM)
    assert device.provider == "rocm"


def test_a_provider_that_does_not_start_is_a_fallback():
    _, module = install(["ROCM"], starting=[], gpus=[GPU])
    device = module.Device()
    reply = device.open(ROCM)
    assert reply["device"] == {"kind": "cpu", "name": "cpu"}
    assert "ROCMExecutionProvider does not start" in reply["why"] and device.kind == "cpu"


def test_a_build_for_the_other_vendor_is_a_fallback():
    _, module = install(["CUDA"], gpus=[GPU])
    reply = module.Device().open(ROCM)
    assert reply["device"]["kind"] == "cpu" and "not MIGraphXExecutionProvider or ROCMExecutionProvider" in reply["why"]


def test_another_gpu_than_the_requested_one_is_not_opened():
    for gpus in ([], [{"name": "another", "pci_address": "0000:09:00.0"}], [{"name": "without identity"}]):
        _, module = install(["CUDA"], gpus=gpus)
        reply = module.Device().open(CUDA)
        assert reply["device"]["kind"] == "cpu" and "none of them" in reply["why"]


def test_partitions_differ_in_the_function_of_their_address():
    partitions = [GPU | {"pci_address": f"0000:03:00.{function}"} for function in range(3)]
    _, module = install(["MIGraphX"], gpus=partitions)
    for function in range(3):
        device = module.Device()
        device.open(ROCM | {"pci_address": f"0000:03:00.{function}"})
        assert device.identity["index"] == function


def test_a_provider_for_another_device_is_refused():
    _, module = install(["CUDA"], gpus=[GPU])
    for option, target in (("cuda", ROCM), ("cpu", CUDA), ("cuda", {"kind": "cpu"})):
        with pytest.raises(Exception, match=f"provider `{option}` does not compute on"):
            module.Device(option).open(target)


def test_tf32_is_off_unless_asked_for():
    _, module = install(["CUDA"], gpus=[GPU])
    device = module.Device()
    device.open(CUDA)
    assert device.requested()[0] == ("CUDAExecutionProvider", {"device_id": "0", "use_tf32": "0"})
    assert device.requested(tf32=True)[0][1]["use_tf32"] == "1"


def opened(nodes):
    """The operations on an AMD GPU, with a profile of these nodes."""
    state, module = install(["MIGraphX"], nodes=nodes, gpus=[GPU])
    device = module.Device()
    device.open(ROCM)
    from engine import onnx_operation

    return state, onnx_operation.Operations(device)


class NotImplemented(Exception):
    """The class of ONNX Runtime's error."""


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_only_a_type_without_kernels_is_not_supported(dtype):
    state, operations = opened([("MGXKernel_graph_0", "MGXKernel_graph", "MIGraphX")])
    for error in (NotImplemented("no kernel"), RuntimeError("[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation")):
        state.error = error
        with pytest.raises(Unsupported, match=f"`migraphx` has no products of {dtype}"):
            operations.compute("add", dtype, dtype, operands())
    for error in (RuntimeError("HIP error: out of memory"), RuntimeError("libmigraphx_c.so.3: cannot open shared object file")):
        state.error = error
        with pytest.raises(RuntimeError, match=r"out of memory|cannot open"):
            operations.compute("add", dtype, dtype, operands())


def test_an_operation_that_ran_on_the_cpu_is_an_error():
    _, operations = opened([("node", "Add", "CPU")])
    with pytest.raises(Exception, match="ran on cpu: 1 nodes on CPUExecutionProvider"):
        operations.compute("add", "f32", "f32", operands())


def test_the_profile_counts_the_nodes_of_each_provider():
    nodes = [("MGXKernel_graph_0", "MGXKernel_graph", "MIGraphX"), ("shape", "Shape", "CPU"), ("cast", "Cast", "CPU")]
    state, operations = opened(nodes)
    assert operations.compute("add", "f32", "f32", operands()).tolist() == [2, 2, 2]
    session = operations.session("add", "f32", "f32")
    assert session.shares == [
        {"provider": "CPUExecutionProvider", "nodes": 2, "microseconds": 20},
        {"provider": "MIGraphXExecutionProvider", "nodes": 1, "microseconds": 10},
    ]
    assert session.computed_on() == "rocm" and state.fallback_disabled


def test_a_product_on_the_cpu_means_that_the_graph_ran_there():
    _, operations = opened([("MGXKernel_graph_0", "MGXKernel_graph", "MIGraphX"), ("layer.1", "FusedMatMul", "CPU")])
    with pytest.raises(Exception, match="ran on cpu"):
        operations.compute("add", "f32", "f32", operands())
