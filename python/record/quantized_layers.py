"""The tensors of a synthetic checkpoint that a scheme quantizes, as the tools of its method choose them.

They quantize the linear layers of the repeated blocks. Embeddings, norms, routers, and what follows the last block stay dense.
"""

import re

import torch
from transformers import PreTrainedModel

from reference.errors import RecordError

BLOCK = re.compile(r"\.\d+\.")
# Experts that transformers keeps in one tensor are saved as matrices, which have no module.
EXPERT = re.compile(r"\.experts\.\d+\.\w+\.weight$")


class QuantizedLayers:
    """The choice of tensors of one model."""

    def __init__(self, model, scheme):
        if scheme is not None and not isinstance(model, PreTrainedModel):
            raise RecordError(f"`{scheme}` cannot quantize `{type(model).__name__}`: it is not a model of transformers")
        self.scheme = scheme
        self.name = type(model).__name__
        head = getattr(model, "get_output_embeddings", lambda: None)() if scheme else None
        self.head = id(head)

    def select(self, tensors):
        """The names of the quantized ones among tensors with their module and shape, by name."""
        if self.scheme is None:
            return []
        found = [name for name, (owner, shape) in tensors.items() if self.has(name, owner, shape)]
        if not found:
            layers = "experts of GPT-OSS" if self.scheme == "mxfp4" else "linear layers in its blocks"
            raise RecordError(f"`{self.scheme}` cannot quantize `{self.name}`: it has no {layers}")
        return found

    def has(self, name, owner, shape):
        """Whether the scheme quantizes a tensor of the module `owner` (None if that is not known)."""
        if self.scheme == "mxfp4":
            return type(owner).__name__ == "GptOssExperts" and len(shape) == 3
        if owner is None:
            return len(shape) == 2 and EXPERT.search(name) is not None
        is_linear = type(owner) is torch.nn.Linear and name.endswith(".weight")
        return is_linear and id(owner) != self.head and BLOCK.search(name) is not None
