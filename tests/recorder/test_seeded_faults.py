"""The kinds of faults of `fixtures/seeded.py`; skipped where torch is absent."""

import copy
import sys
from pathlib import Path

import numpy
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "fixtures"))

import seeded_faults  # noqa: E402 - it imports torch

LAYER = "layers.{}.self_attn.{}_proj.weight"


def parts():
    """A small decoder with a part for every kind."""
    generator = torch.Generator().manual_seed(0)
    tensors = {LAYER.format(layer, name): torch.randn(8, 8, generator=generator) for layer in (0, 1) for name in "qkvo"}
    tensors |= {f"layers.0.mlp.{name}_proj.weight": torch.randn(12, 8, generator=generator) for name in ("gate", "up")}
    tensors |= {
        "embed_tokens.weight": torch.randn(16, 8, generator=generator),
        "position_embeddings.weight": torch.randn(16, 8, generator=generator),
        "input_layernorm.weight": 1 + torch.randn(8, generator=generator),
        "layers.0.mlp.fc.bias": torch.randn(8, generator=generator),
        "conv.weight": torch.randn(4, 4, 3, 3, generator=generator),
        "running_mean": torch.randn(8, generator=generator),
    }
    config = {
        "hidden_act": "gelu",
        "num_attention_heads": 4,
        "query_pre_attn_scalar": 8,
        "sliding_window": 4,
        "tie_word_embeddings": False,
        "text_config": {"rms_norm_eps": 1e-6, "rope_theta": 10000.0},
    }
    return seeded_faults.Parts(config, tensors)


@pytest.mark.parametrize("kind", seeded_faults.KINDS, ids=lambda kind: kind.__name__)
def test_a_kind_changes_one_part(kind):
    """Each kind changes one field or one or two tensors, keeps shapes, and repeats for the same seed."""
    before, after, again = parts(), parts(), parts()
    assert kind(after, numpy.random.default_rng(1))
    assert kind(again, numpy.random.default_rng(1))
    assert after.config == again.config
    changed = [name for name in before.tensors if not torch.equal(before.tensors[name], after.tensors[name])]
    assert all(torch.equal(after.tensors[name], again.tensors[name]) for name in before.tensors)
    assert (after.config != before.config) + len(changed) in (1, 2)
    assert all(after.tensors[name].shape == before.tensors[name].shape for name in before.tensors)


@pytest.mark.parametrize("kind", seeded_faults.KINDS, ids=lambda kind: kind.__name__)
def test_a_kind_that_does_not_apply_says_so(kind):
    """A checkpoint without parts has no fault."""
    empty = seeded_faults.Parts({}, {})
    assert not kind(copy.deepcopy(empty), numpy.random.default_rng(1))
