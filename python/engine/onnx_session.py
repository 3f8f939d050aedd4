"""A session of ONNX Runtime with the evidence of where its nodes ran: part of the engine `onnxruntime`."""

import itertools
import json
import os
import tempfile

import numpy
import onnxruntime

CPU = "CPUExecutionProvider"
# Nodes that carry the work of a network. ONNX Runtime itself places nodes that compute shapes on the CPU.
PRODUCTS = ("MatMul", "Gemm", "Conv", "Attention")
# Profiles, which a session writes from its creation on, also if it never runs.
PROFILES = tempfile.TemporaryDirectory(prefix="testgen-profiles-")
COUNT = itertools.count()


class GraphSession:
    """A session whose first run is profiled."""

    def __init__(self, model, device, tf32=False):
        self.device = device
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # Waiting threads of one process would take the cores of the others.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if not device.optimized:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(PROFILES.name, str(next(COUNT)))
        self.session = onnxruntime.InferenceSession(model, options, providers=device.requested(tf32))
        # Otherwise a failed run would be repeated on the CPU.
        self.session.disable_fallback()
        self.inputs = {value.name: value for value in self.session.get_inputs()}
        self.shares, self.products_on_cpu = None, []

    def providers(self):
        """The providers that the session really has."""
        return self.session.get_providers()

    def run(self, inputs):
        """The outputs by name."""
        names = [value.name for value in self.session.get_outputs()]
        found = dict(zip(names, self.session.run(names, inputs), strict=True))
        if self.shares is None:
            self.read_profile()
        return found

    def read_profile(self):
        """Counts the nodes of each provider in the first run, and their time."""
        path = self.session.end_profiling()
        with open(path, encoding="utf-8") as file:
            events = [event for event in json.load(file) if event.get("cat") == "Node" and event["name"].endswith("_kernel_time")]
        os.remove(path)
        shares = {}
        for event in events:
            provider = event["args"].get("provider") or CPU
            share = shares.setdefault(provider, {"provider": provider, "nodes": 0, "microseconds": 0})
            share["nodes"] += 1
            share["microseconds"] += event["dur"]
            if provider == CPU and any(part in event["args"].get("op_name", "") for part in PRODUCTS):
                self.products_on_cpu.append(event["name"].removesuffix("_kernel_time"))
        self.shares = sorted(shares.values(), key=lambda share: share["provider"])

    def computed_on(self):
        """The kind of device that the profile proves: the CPU where any product ran there, or no node ran on the GPU's provider."""
        on_gpu = any(share["provider"] != CPU and share["nodes"] for share in self.shares or [])
        return self.device.kind if on_gpu and not self.products_on_cpu else "cpu"


def is_not_implemented(error):
    """Whether a provider lacks the kernels of a graph. Every other error of a session is a failure."""
    return type(error).__name__ == "NotImplemented" or "not implemented" in str(error).lower().replace("_", " ")


def float_type(array):
    """The name of a type in the protocol, in which float64 is f32; None for integers."""
    if array.dtype.kind != "f":
        return None
    return "f16" if array.dtype == numpy.float16 else "f32"
