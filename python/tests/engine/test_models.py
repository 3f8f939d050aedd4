"""Checkpoints that the engine `torch` refuses to load, because it would compute with other values than theirs."""

import json
import shutil
from types import SimpleNamespace

import pytest

from engine.engine_protocol import CallError
from fixtures.paths import CHECKPOINTS


@pytest.fixture
def models():
    """The engine's module, which imports torch: not before the tests that run without it."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from engine import engine_models

    return engine_models


def config(theta, **own):
    """A configuration that transformers 5 wrote and 4 read."""
    written = {"rope_type": "default", "rope_theta": theta}
    return SimpleNamespace(rope_parameters=written, **own)


def test_positions_that_transformers_4_does_not_read_are_refused(models):
    models.refuse_positions(config(10000.0, rope_theta=10000.0))
    models.refuse_positions(SimpleNamespace())
    for ignored in (config(500.0, rope_theta=10000.0), config(500.0), SimpleNamespace(text_config=config(500.0, rope_theta=1.0))):
        with pytest.raises(CallError, match="does not read `rope_parameters`"):
            models.refuse_positions(ignored)


def test_scaled_and_partial_positions_are_refused(models):
    scaled = config(500.0, rope_theta=500.0)
    scaled.rope_parameters["rope_type"] = "yarn"
    partial = config(500.0, rope_theta=500.0, rotary_pct=0.25)
    partial.rope_parameters["partial_rotary_factor"] = 0.5
    for ignored in (scaled, partial):
        with pytest.raises(CallError, match="does not read"):
            models.refuse_positions(ignored)


def test_positions_by_kind_of_layer_have_their_own_fields(models):
    layers = {"full_attention": {"rope_theta": 160000.0}, "sliding_attention": {"rope_theta": 10000.0}}
    own = SimpleNamespace(rope_parameters=layers, global_rope_theta=160000.0, local_rope_theta=10000.0)
    models.refuse_positions(own)
    own.local_rope_theta = 500.0
    with pytest.raises(CallError, match="does not read"):
        models.refuse_positions(own)


def test_a_model_that_remains_in_memory_is_counted(models):
    from engine.engine_calls import Calls

    calls = Calls([])
    directory = str(CHECKPOINTS / "bert")
    counts, kept = [], []
    for remains in (False, False, True, True):
        loaded, _ = calls.load({}, directory, "bert", "f32", **{"class": "BertModel"})
        if remains:
            kept.append(calls.models[loaded["model"]])
        calls.unload({}, loaded["model"])
        counts.append(calls.memory({})[0]["in_use"])
    weights = sum(parameter.nbytes for parameter in kept[0].parameters())
    assert weights > 0 and counts[1] == counts[0] and counts[2] >= counts[1] + weights and counts[3] >= counts[2] + weights


def test_the_reply_to_memory_has_a_peak_of_what_was_loaded_last_where_torch_counts_one(models, monkeypatch):
    from engine.engine_calls import Calls

    calls = Calls([])
    assert calls.memory({})[0].keys() == {"in_use"}
    events = []
    monkeypatch.setattr(calls.device, "begin_peak", lambda: events.append("begin"))
    monkeypatch.setattr(models, "load", lambda *_: events.append("load") or (None, [], []))
    monkeypatch.setattr(calls.device, "peak", lambda: 4096)
    calls.load({}, "no directory", "bert", "f32", **{"class": "BertModel"})
    assert events == ["begin", "load"], "the weights are part of the peak"
    assert calls.memory({})[0]["peak"] == 4096


@pytest.mark.parametrize(("options", "attention"), [([], "sdpa"), (["eager"], "eager"), (["sdpa"], "sdpa")])
@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation"])
def test_the_column_chooses_the_implementation_and_not_the_checkpoint(models, tmp_path, options, attention, name):
    from engine.engine_calls import Calls

    directory = shutil.copytree(CHECKPOINTS / "clip", tmp_path / "clip")
    config = json.loads((directory / "config.json").read_text())
    other = "sdpa" if attention == "eager" else "eager"
    config[name] = config["text_config"][name] = config["vision_config"][name] = other
    (directory / "config.json").write_text(json.dumps(config))
    calls = Calls(options)
    for given in (None, config):
        reply, _ = calls.load({}, str(directory), "clip", "f32", config=given, **{"class": "CLIPModel"})
        loaded = calls.models[reply["model"]].config
        chosen = [part._attn_implementation for part in (loaded, loaded.text_config, loaded.vision_config)]
        assert chosen == [attention] * 3


def test_parts_of_a_configuration_choose_nothing_either(models):
    config = {"hidden_size": 8, "layer_types": ["full"], "text_config": {"experts_implementation": "eager", "hidden_size": 4}}
    assert models.without_choices(config) == {"hidden_size": 8, "layer_types": ["full"], "text_config": {"hidden_size": 4}}


def test_a_missing_weight_is_refused_and_a_missing_index_is_not(models):
    import torch

    model = torch.nn.Linear(2, 2)
    model.register_buffer("relative_position_index", torch.zeros(3, dtype=torch.int64))
    model.register_buffer("running_mean", torch.zeros(3))
    request = SimpleNamespace(class_name="Linear")
    found = {"missing_keys": ["relative_position_index"], "mismatched_keys": []}
    models.refuse_incomplete(request, model, found)
    for missing in ("weight", "running_mean"):
        with pytest.raises(CallError, match=f"lacks 1 weights of `Linear`, such as `{missing}`"):
            models.refuse_incomplete(request, model, found | {"missing_keys": ["relative_position_index", missing]})


def test_a_weight_of_another_shape_is_refused_with_and_without_its_shapes(models):
    import torch

    for key, part in ((("weight", (2, 3), (2, 2)), "has shape .2, 3.*asks for .2, 2"), ("weight", "has another shape")):
        with pytest.raises(CallError, match=part):
            models.refuse_incomplete(
                SimpleNamespace(class_name="Linear"), torch.nn.Linear(2, 2), {"missing_keys": [], "mismatched_keys": [key]}
            )


def test_a_black_image_has_the_layout_of_the_model(models):
    torch = pytest.importorskip("torch")
    from engine import engine_forward

    class Pixels(torch.nn.Module):
        config = SimpleNamespace(vision_config=SimpleNamespace(num_channels=3, image_size=16, patch_size=4))

        def forward(self, input_ids, pixel_values):
            return pixel_values

    class Patches(Pixels):
        def forward(self, input_ids, pixel_values, pixel_attention_mask, spatial_shapes):
            return pixel_values

    assert {name: value.shape for name, value in engine_forward.empty_image(Pixels()).items()} == {"pixel_values": (1, 3, 16, 16)}
    Pixels.config.vision_config.image_size = (16, 24)
    assert engine_forward.empty_image(Pixels())["pixel_values"].shape == (1, 3, 16, 24)
    del Pixels.config.vision_config.image_size
    patch = engine_forward.empty_image(Patches())
    assert patch["pixel_values"].shape == (1, 1, 48) and patch["spatial_shapes"].tolist() == [[1, 1]]
