"""Inputs of the main case from a file, for models whose inputs cannot be drawn."""

import torch
from safetensors.torch import load_file

from reference import forward_arguments
from reference.errors import RecordError, user_error


def read_inputs(path, model):
    """The tensors of a safetensors file by the names of their arguments: numbers as float32, integers as int64."""
    with user_error(f"`{path}` cannot be read"):
        tensors = load_file(path)
    if not tensors:
        raise RecordError(f"`{path}` has no tensors; give one for each argument of `{type(model).__name__}`")
    for name in tensors:
        if not forward_arguments.takes(model, name):
            known = ", ".join(sorted(forward_arguments.names(model)))
            raise RecordError(f"`{type(model).__name__}` takes no `{name}`; its arguments are {known}")
    missing = [name for name in forward_arguments.required(model) if name not in tensors]
    if missing:
        raise RecordError(f"`{type(model).__name__}` needs `{missing[0]}`, which `{path}` lacks")
    return {name: value.float() if value.is_floating_point() else value.to(torch.int64) for name, value in sorted(tensors.items())}
