"""Prints what is known about this Python, or about one package after importing it, as one line of JSON."""

import json
import sys


def installed():
    """Python, and the packages that engines use, from their metadata: nothing is imported."""
    from importlib import metadata
    from importlib.util import find_spec

    packages, onnxruntime = {}, set()
    for distribution in metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        version = distribution.version or "unknown"
        if name in ("torch", "transformers", "safetensors", "numpy", "diffusers"):
            packages[name] = {"version": version}
        if name == "onnxruntime" or name.startswith("onnxruntime-"):
            onnxruntime.add(name)
            # `onnxruntime-extensions` and others are packages beside it.
            if find_spec("onnxruntime"):
                packages["onnxruntime"] = {"version": version}
    onnxruntime = [name for name in sorted(onnxruntime) if name.removeprefix("onnxruntime-") not in ("extensions", "genai", "tools")]
    version = ".".join(map(str, sys.version_info[:3]))
    return {"executable": sys.executable, "version": version, "packages": packages, "onnxruntime_distributions": onnxruntime}


def torch():
    """The build of torch, and the architectures that it has kernels for."""
    import torch

    names = torch.cuda.get_arch_list() if torch.cuda.is_available() else []
    # An AMD architecture may have features at its end, as `gfx90a:xnack-`.
    architectures = sorted({name.split(":")[0] for name in names})
    return {"hip": torch.version.hip, "cuda": torch.version.cuda, "architectures": architectures}


def onnxruntime():
    """The build of ONNX Runtime, and its execution providers."""
    import onnxruntime

    build = getattr(onnxruntime, "get_build_info", None)
    return {"providers": onnxruntime.get_available_providers(), "build": build() if build else None}


if __name__ == "__main__":
    found = {"torch": torch, "onnxruntime": onnxruntime}[sys.argv[1]]() if len(sys.argv) > 1 else installed()
    print(json.dumps(found))
