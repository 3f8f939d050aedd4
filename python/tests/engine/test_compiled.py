"""The models of the column `compile`: their parts that are compiled, and the limit of torch."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine import torch_compiled  # noqa: E402 - it imports torch
from engine.engine_protocol import Unsupported  # noqa: E402

# More than torch allows without an option.
MANY = 12


class Scaled(torch.nn.Module):
    """A model with a variant for each factor."""

    def __init__(self):
        super().__init__()
        self.factor = 1

    def forward(self, x):
        return x * self.factor


class Autoencoder(torch.nn.Module):
    """A model whose methods are called, as in diffusers."""

    def encode(self, x):
        return x + 1

    def decode(self, x):
        return x - 1


@pytest.fixture
def compiler(monkeypatch):
    """The compiler of the column, with graphs that are run as they are: torch's default takes seconds for each."""
    config = torch._dynamo.config
    names = ("recompile_limit", "accumulated_recompile_limit", "fail_on_recompile_limit_hit")
    monkeypatch.setattr(torch._dynamo, "lookup_backend", lambda _: lambda graph, _: graph.forward)
    torch._dynamo.reset()
    with config.patch({name: getattr(config, name) for name in names}):
        yield torch_compiled.Compiler()
    torch._dynamo.reset()


def run_variants(compiler, count):
    model = Scaled()
    compiler.compile(model)
    for factor in range(2, 2 + count):
        model.factor = factor
        assert compiler.computed(lambda: model(torch.ones(1))).item() == factor


def test_every_variant_of_a_model_is_compiled(compiler):
    run_variants(compiler, MANY)
    assert compiler.calls == MANY


def test_the_limit_of_variants_is_an_error(compiler, monkeypatch):
    monkeypatch.setattr(torch_compiled, "VARIANTS", 3)
    limited = torch_compiled.Compiler()
    with pytest.raises(Exception, match="fail_on_recompile_limit_hit"):
        run_variants(limited, MANY)
    assert limited.calls == 3


def test_the_halves_of_an_autoencoder_are_compiled(compiler, monkeypatch):
    model = Autoencoder()
    compiler.compile(model)
    with pytest.raises(Unsupported, match="compiles nothing"):
        compiler.computed(lambda: model.encode(torch.ones(1)))
    monkeypatch.setattr(torch_compiled, "family_of", lambda _: object())
    compiler.compile(model)
    assert compiler.computed(lambda: model.encode(torch.ones(1))).item() == 2
    assert compiler.computed(lambda: model.decode(torch.ones(1))).item() == 0
    assert compiler.calls == 2


def test_a_model_of_which_nothing_is_compiled_is_not_supported(compiler):
    model = Scaled()
    model.forward = torch._dynamo.disable(model.forward)
    compiler.compile(model)
    with pytest.raises(Unsupported, match="compiles nothing of this model"):
        compiler.computed(lambda: model(torch.ones(1)))


def test_the_options_of_older_versions_are_set():
    older = SimpleNamespace(cache_size_limit=8, accumulated_cache_size_limit=64)
    torch_compiled.raise_limits(older)
    assert vars(older) == {"cache_size_limit": 1 << 16, "accumulated_cache_size_limit": 1 << 16}
    newer = SimpleNamespace(recompile_limit=8, cache_size_limit=8, fail_on_recompile_limit_hit=False)
    torch_compiled.raise_limits(newer)
    assert vars(newer) == {"recompile_limit": 1 << 16, "cache_size_limit": 8, "fail_on_recompile_limit_hit": True}
