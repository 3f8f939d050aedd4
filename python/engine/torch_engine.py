"""The engine `torch`: loads checkpoints with transformers or diffusers, and computes with PyTorch.

testgen starts it as `python -I DIRECTORY engine.torch_engine` and calls it over its standard streams (docs/engines.md).
"""

import sys

# Before any import that may print.
from engine import engine_loop

try:
    import numpy  # noqa: F401
    import safetensors.torch
    import torch
    import transformers
except ImportError as missing:
    MISSING = f"Python package `{missing.name}` is missing in {sys.executable}; pip install torch transformers safetensors numpy"
else:
    MISSING = None
    from engine import engine_models, torch_collectives, torch_operators
    from engine.engine_calls import Calls


class Engine:
    """The functions that the loop needs."""

    missing = MISSING

    def calls(self, options):
        """The calls of the protocol."""
        return Calls(options)

    def versions(self):
        """The versions of the libraries that decide the numbers."""
        found = {"torch": torch.__version__, "transformers": transformers.__version__}
        if "diffusers" in sys.modules:
            found["diffusers"] = sys.modules["diffusers"].__version__
        return found

    def described(self):
        """The fields that the reply to `hello` has in addition."""
        return {
            "implementations": engine_models.implementations(),
            "operators": [*torch_operators.names(), *torch_collectives.OPERATORS],
            "times": True,
            "repeats": True,
        }

    def recover(self, calls):
        """Frees what a call that ran out of memory has left."""
        calls.device.recover()

    def has_lost_device(self, calls):
        """Whether every later call would fail, too."""
        return calls.device.is_lost()

    def close(self):
        """Has no temporary files."""

    def decoded(self, blob):
        """The tensors of a message."""
        return safetensors.torch.load(blob)

    def encoded(self, tensors):
        """The bytes of tensors on the CPU, by name."""
        # Copies, because safetensors refuses tensors that share memory, as a hidden state does with the output that it becomes.
        copies = {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
        return safetensors.torch.save(copies)


if __name__ == "__main__":
    engine_loop.serve(Engine())
