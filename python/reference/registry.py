"""The supported model types, as crates/types/src/registry.rs lists them.

`registry.json` is written from that table: `UPDATE_DOCS=1 cargo test -p testgen --test cli current`.
"""

import json
import os
from types import SimpleNamespace

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "registry.json"), encoding="utf-8") as file:
    # The line of each type, by its `model_type`; by its `_class_name` where the library is diffusers.
    ENTRIES = {name: SimpleNamespace(**line) for name, line in json.load(file).items()}


def kind(config):
    """The `model_type` of a config of transformers, the `_class_name` of one of diffusers."""
    if isinstance(config, dict):
        return config.get("model_type") or config.get("_class_name")
    return config.model_type


def entry(config):
    """The line of a configuration's type."""
    return ENTRIES[kind(config)]


def is_native(config):
    """Whether testgen itself implements the type."""
    return bool(entry(config).definition)


def type_of_class(class_name):
    """The model type of a class, or None."""
    return next((name for name, line in ENTRIES.items() if class_name in line.classes), None)
