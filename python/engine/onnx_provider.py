"""Execution providers and the device that they compute on: part of the engine `onnxruntime`."""

import onnxruntime

from engine import onnx_operation, same_gpu
from engine.engine_protocol import Unsupported
from engine.gpu_identity import visible_gpus
from engine.onnx_session import GraphSession

# The options of the column, with the names that ONNX Runtime uses.
PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "rocm": "ROCMExecutionProvider",
}
# Those for a kind of device; the first one that the build contains is the default. ROCm's own is not developed further.
OF_KIND = {"cpu": ("cpu",), "cuda": ("cuda",), "rocm": ("migraphx", "rocm")}


class Device:
    """The device and the provider that every session gets."""

    def __init__(self, option=None, optimized=True, tf32=False):
        self.option, self.optimized, self.tf32 = option, optimized, tf32
        self.kind, self.provider, self.identity = "cpu", "cpu", {}

    def build(self):
        """The kind of GPU that this build is for."""
        built = onnxruntime.get_available_providers()
        for kind, name in (("rocm", "hip"), ("cuda", "cuda")):
            if any(PROVIDERS[option] in built for option in OF_KIND[kind]):
                return name
        return "cpu"

    def open(self, target):
        """Opens the target device, the CPU if no provider computes there."""
        if self.option is not None and self.option not in OF_KIND[target["kind"]]:
            raise Unsupported(f"provider `{self.option}` does not compute on {target['kind']}")
        why = None if target["kind"] == "cpu" else self.open_gpu(target)
        return {"device": self.describe(), **({"why": why} if why else {})}

    def open_gpu(self, target):
        """None, or why the device remains the CPU."""
        built = onnxruntime.get_available_providers()
        options = [self.option] if self.option else OF_KIND[target["kind"]]
        provider = next((option for option in options if PROVIDERS[option] in built), None)
        version = f"onnxruntime {onnxruntime.__version__}"
        if provider is None:
            return f"{version} has {', '.join(built)}, not {' or '.join(PROVIDERS[option] for option in options)}"
        gpus = visible_gpus(target["kind"])
        index, why = same_gpu.find(gpus, target)
        if index is None:
            return f"the driver lists {why}"
        candidate = Device(self.option, self.optimized, self.tf32)
        candidate.kind, candidate.provider, candidate.identity = target["kind"], provider, {"index": index, **gpus[index]}
        found = GraphSession(onnx_operation.graph("add", "f32", "f32"), candidate).providers()
        # ONNX Runtime logs that a provider does not start, and computes on the CPU.
        if PROVIDERS[provider] not in found:
            return f"{version}: {PROVIDERS[provider]} does not start on this machine, sessions have {', '.join(found)}"
        self.kind, self.provider, self.identity = candidate.kind, candidate.provider, candidate.identity
        return None

    def listed(self):
        """Every GPU that the driver lists, of the kind that this build is for."""
        kind = {"hip": "rocm", "cuda": "cuda"}.get(self.build())
        return [{"kind": kind, **gpu} for gpu in visible_gpus(kind)] if kind else []

    def describe(self):
        """The device that sessions compute on."""
        if self.kind == "cpu":
            return {"kind": "cpu", "name": "cpu"}
        return {"kind": self.kind} | {key: value for key, value in self.identity.items() if key != "index"}

    def requested(self, tf32=False):
        """The providers of a session, with their options."""
        if self.kind == "cpu":
            return [PROVIDERS["cpu"]]
        options = {"device_id": str(self.identity["index"])}
        if self.provider == "cuda":
            # On by default, which no f32 check would accept.
            options["use_tf32"] = str(int(tf32 or self.tf32))
        return [(PROVIDERS[self.provider], options), PROVIDERS["cpu"]]


def short_name(provider):
    """`CUDA` of `CUDAExecutionProvider`."""
    return provider.removesuffix("ExecutionProvider")
