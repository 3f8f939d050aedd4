"""The arguments of a class's `forward`."""

import functools
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
    function = getattr(model.forward, "__func__", None)
    # What is not a method, such as a compiled function, is the model's own.
    return inspect.signature(model.forward).parameters if function is None else parameters_of_method(function)


# Every call of a model needs them, and a signature takes as long as a small layer.
@functools.cache
def parameters_of_method(function):
    """The parameters after the model itself, by name."""
    _, *others = inspect.signature(function).parameters.items()
    return dict(others)
