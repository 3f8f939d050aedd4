"""Models that are compiled, in the column `compile`: part of the engine `torch`."""

import torch

from engine.engine_protocol import Unsupported
from reference.families import family_of

# Beyond torch's own limit of 8 variants, a function of every model of its class is computed without a word as if it were not compiled, and
# checks have more shapes. No suite has this many.
VARIANTS = 1 << 16
# The names of the limits in torch 2.6 and before.
LIMITS = (("recompile_limit", "cache_size_limit"), ("accumulated_recompile_limit", "accumulated_cache_size_limit"))
FAILURE = ("fail_on_recompile_limit_hit", "fail_on_cache_limit_hit")
# The calls of an autoencoder, which are not calls of the module.
METHODS = ("encode", "decode")


class Compiler:
    """Compiles models, and counts the calls of compiled code."""

    def __init__(self):
        self.calls = 0
        # The module is imported here: other columns do not need it.
        raise_limits(torch._dynamo.config)

    def compile(self, model):
        """Compiles a model in place."""
        model.compile(backend=self.backend)
        if family_of(type(model)) is not None:
            for name in METHODS:
                if hasattr(model, name):
                    setattr(model, name, torch.compile(getattr(model, name), backend=self.backend))

    def backend(self, graph, inputs):
        """torch's default compiler, with a count."""
        compiled = torch._dynamo.lookup_backend("inductor")(graph, inputs)

        def counted(*values):
            self.calls += 1
            return compiled(*values)

        return counted

    def computed(self, work):
        """The result of a computation, in which compiled code must have a part."""
        before = self.calls
        result = work()
        if self.calls == before:
            raise Unsupported(f"torch {torch.__version__} compiles nothing of this model")
        return result


def raise_limits(config):
    """Allows many variants, and makes more of them an error."""
    for names in LIMITS:
        set_first(config, names, VARIANTS)
    set_first(config, FAILURE, True)


def set_first(config, names, value):
    """Sets the first option that this version of torch has."""
    name = next((name for name in names if hasattr(config, name)), None)
    if name is not None:
        setattr(config, name, value)
