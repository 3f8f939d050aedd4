"""The engine `torch`: loads checkpoints with transformers or diffusers, and computes with PyTorch.

testgen starts it as `python -I torch_engine.py` and calls it over its standard streams; docs/engines.md describes the protocol. Nothing
but the protocol is written to standard output, whatever libraries print.
"""

import os
import sys

# Before any import that may print.
REQUESTS = os.fdopen(os.dup(0), "rb")
RESPONSES = os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import engine_protocol  # noqa: E402
from engine_protocol import CallError, Unsupported  # noqa: E402

try:
    import numpy  # noqa: F401
    import safetensors
    import torch
    import transformers
except ImportError as missing:
    MISSING = f"Python package `{missing.name}` is missing in {sys.executable}; pip install torch transformers safetensors numpy"
else:
    MISSING = None
    import engine_models
    from engine_calls import Calls


def main():
    """Answers calls until the pipe is closed."""
    calls = None
    while (message := engine_protocol.read(REQUESTS)) is not None:
        request, blob = message
        identifier, name = request.pop("id"), request.pop("call")
        try:
            if MISSING is not None:
                raise Unsupported(MISSING)
            if name == "hello":
                calls = Calls(request.pop("options"))
                reply, tensors = described(calls), {}
            else:
                arguments = safetensors.torch.load(blob) if blob else {}
                reply, tensors = getattr(calls, name)(arguments, **request)
            answer, blob = {"id": identifier, "reply": reply}, engine_protocol.encoded(tensors)
        except Exception as error:
            answer, blob = {"id": identifier, "error": engine_protocol.failure(error)}, b""
            # The end of the traceback goes to standard error, which testgen shows if this process dies.
            if not isinstance(error, CallError):
                sys.excepthook(*sys.exc_info())
        engine_protocol.write(RESPONSES, answer, blob)


def described(calls):
    """The reply to `hello`."""
    found = {"version": engine_protocol.VERSION, "versions": versions(), "build": calls.device.build()}
    return found | {"implementations": engine_models.implementations()}


def versions():
    """The versions of the libraries that decide the numbers."""
    found = {"torch": torch.__version__, "transformers": transformers.__version__}
    if "diffusers" in sys.modules:
        found["diffusers"] = sys.modules["diffusers"].__version__
    return found


if __name__ == "__main__":
    main()
    # Ends without the destructors of libraries, which print pages about objects that were not freed.
    os._exit(0)
