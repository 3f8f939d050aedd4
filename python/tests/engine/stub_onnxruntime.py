"""A fake onnxruntime with the providers that a test asks for.

Providers and options have the names of the packages for AMD GPUs, which do not start without one. onnxruntime-migraphx 1.27.1 returns
`MIGraphXExecutionProvider` from `get_available_providers()`, and its `capi/libonnxruntime_providers_migraphx.so` reads the option
`device_id`. onnxruntime-rocm 1.22.2.post3 returns `ROCMExecutionProvider`; its `transformers/models/llama/benchmark.py` (line 624)
passes `device_id`. A provider that does not start is left out (`_fallback_providers` in `capi/onnxruntime_inference_collection.py`).
"""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy

from fresh_modules import forget

PARTS = ("account", "calls", "graph", "half", "operation", "provider", "session")
MODULES = ("onnxruntime", *(f"engine.onnx_{part}" for part in PARTS))


class FakeOptions:
    """A `SessionOptions`."""

    def add_session_config_entry(self, *_):
        """Ignored."""


class FakeSession:
    """An `InferenceSession` whose nodes run where the test says."""

    def __init__(self, state, options, providers):
        if state.error is not None:
            raise state.error
        self.state, self.options, self.requested = state, options, providers

    def disable_fallback(self):
        """The engine must call it, because a failed run would be repeated on the CPU."""
        self.state.fallback_disabled = True

    def get_providers(self):
        """As ONNX Runtime does: a provider that does not start is left out without an error."""
        names = [provider if isinstance(provider, str) else provider[0] for provider in self.requested]
        return [name for name in names if name in self.state.starting]

    def get_inputs(self):
        """Two operands."""
        return [SimpleNamespace(name=name, type="tensor(float)") for name in ("left", "right")]

    def get_outputs(self):
        """One result."""
        return [SimpleNamespace(name="result")]

    def run(self, names, inputs):
        """The sum of the operands."""
        return [inputs["left"] + inputs["right"] for _ in names]

    def end_profiling(self):
        """A profile in the format of ONNX Runtime."""
        path = f"{self.options.profile_file_prefix}_1.json"
        events = [
            {"cat": "Node", "name": f"{name}_kernel_time", "dur": 10, "args": {"op_name": operation, "provider": provider}}
            for name, operation, provider in self.state.nodes
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump([{"cat": "Session", "name": "model_run", "dur": 99, "args": {}}, *events], file)
        return path


def install(built, starting=None, nodes=(), gpus=()):
    """Puts the fake in the place of onnxruntime, and returns it with the engine's module of providers. `built` and `starting` are short
    names; `nodes` has names, operations and providers."""
    full = [f"{name}ExecutionProvider" for name in (*built, "CPU")]
    state = SimpleNamespace(starting=[f"{name}ExecutionProvider" for name in (*(built if starting is None else starting), "CPU")])
    state.nodes = [(name, operation, f"{provider}ExecutionProvider") for name, operation, provider in nodes]
    state.sessions, state.fallback_disabled, state.error = [], False, None
    fake = ModuleType("onnxruntime")
    fake.__version__ = "1.27.1"
    fake.SessionOptions = FakeOptions
    fake.GraphOptimizationLevel = SimpleNamespace(ORT_DISABLE_ALL=0)
    fake.get_available_providers = lambda: full
    fake.InferenceSession = lambda _, options, providers: state.sessions.append(providers) or FakeSession(state, options, providers)
    for name in MODULES:
        forget(name)
    sys.modules["onnxruntime"] = fake
    from engine import onnx_provider

    onnx_provider.visible_gpus = lambda _: list(gpus)
    return state, onnx_provider


def operands():
    """Two vectors."""
    return {"left": numpy.ones(3, numpy.float32), "right": numpy.ones(3, numpy.float32)}
