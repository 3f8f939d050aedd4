"""The arguments of a class's `forward`."""

import inspect


def names(model):
    """The arguments that the signature names."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name for name, parameter in parameters(model).items() if parameter.kind in kinds}


def required(model):
    """The arguments without a default, in their order."""
    plain = names(model)
    return [name for name, one in parameters(model).items() if name in plain and one.default is inspect.Parameter.empty]


def takes(model, name):
    """Whether the argument can be passed, by its name or among further ones."""
    found = parameters(model)
    return name in found or any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in found.values())


def parameters(model):
    """The parameters of `forward`, by name."""
    return inspect.signature(model.forward).parameters
