"""The engine `onnxruntime`: runs exported graphs, `model.onnx`, with ONNX Runtime.

testgen starts it as `python -I DIRECTORY engine.onnx_engine` and calls it over its standard streams (docs/engines.md).
"""

import sys

# Before any import that may print.
from engine import engine_loop

try:
    import numpy
    import onnx
    import onnxruntime
    import safetensors.numpy
except ImportError as missing:
    MISSING = f"Python package `{missing.name}` is missing in {sys.executable}; pip install onnxruntime onnx safetensors numpy"
else:
    MISSING = None
    from engine.onnx_calls import Calls
    from engine.onnx_provider import short_name
    from engine.onnx_session import PROFILES


class Engine:
    """The functions that the loop needs."""

    missing = MISSING

    def calls(self, options):
        """The calls of the protocol."""
        # Warnings about every node that a provider does not have are pages long; the profile counts these nodes.
        onnxruntime.set_default_logger_severity(3)
        return Calls(options)

    def versions(self):
        """The versions of the libraries that decide the numbers, and the providers that this build contains."""
        providers = "+".join(short_name(provider) for provider in onnxruntime.get_available_providers())
        return {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__, "providers": providers}

    def described(self):
        """A graph has one implementation of everything."""
        return {}

    def recover(self, calls):
        """ONNX Runtime frees what a failed run has allocated by itself."""

    def has_lost_device(self, calls):
        """ONNX Runtime has no call that shows it."""
        return False

    def close(self):
        """Deletes temporary files."""
        if MISSING is None:
            PROFILES.cleanup()

    def decoded(self, blob):
        """The tensors of a message."""
        return safetensors.numpy.load(blob)

    def encoded(self, tensors):
        """The bytes of tensors, by name."""
        # safetensors writes the memory of an array whatever its strides are.
        return safetensors.numpy.save({name: numpy.ascontiguousarray(tensor) for name, tensor in tensors.items()})


if __name__ == "__main__":
    engine_loop.serve(Engine())
