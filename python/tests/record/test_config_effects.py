"""The values of the configuration that are recorded: `python/record/config_effects.py`."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from record import config_effects


@pytest.fixture
def effects(tmp_path, monkeypatch):
    """The recorded effects of `config`, where a model with another value has the effect that `of` returns."""

    def record(config, of):
        (tmp_path / "config.json").write_text(json.dumps(config))
        monkeypatch.setattr(config_effects, "plain_results", lambda *_: [({}, {}), ({}, {})])
        monkeypatch.setattr(config_effects, "effect_of", lambda _class, _directory, changed, *_: of(changed))
        return config_effects.effects(None, tmp_path, None)

    return record


def test_the_first_value_with_a_clear_effect_is_recorded(effects):
    assert effects({"layers": 4}, lambda _: 1.0) == {"layers": 5}


def test_else_the_one_with_the_largest_effect(effects):
    found = {5: config_effects.NOT_COMPUTED, 2: 0.02, 9: 0.01}
    assert effects({"layers": 4}, lambda changed: found[changed["layers"]]) == {"layers": 2}


def test_a_value_that_does_not_compute_is_the_last_choice(effects):
    assert effects({"layers": 4}, lambda changed: config_effects.NOT_COMPUTED if changed["layers"] == 9 else 0.0) == {"layers": 9}


def test_a_field_without_an_effect_is_left_out(effects):
    assert effects({"layers": 4, "rope": {"theta": 1.0}}, lambda changed: 1.0 if changed["layers"] == 4 else 0.0) == {"rope.theta": 1.5}
