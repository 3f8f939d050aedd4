"""The families of model types: the module that the registry names for each.

A module has `cases`, which returns the inputs, and optionally:

- `trace`: hidden states, where they have other names than usual;
- `derived`: tensors that are recorded in addition to the results;
- `generated`: generated tokens;
- `prepare`: adds what a loaded model lacks;
- `attention`: the implementation of attention, where it is not eager;
- `CHOOSES`: true where the model chooses what it reads;
- `IGNORED`: names of results whose first dimension is not the batch;
- `TRANSFORMERS`, `INSTALL`: the version that records it, where that is an old one, and the command that installs it;
- `given`: refuses inputs from a file that checks cannot be about;
- `class_of`, `load`, `run`, `describe`: where the library is not transformers.
"""

from importlib import import_module

from reference.registry import ENTRIES, kind, type_of_class

FAMILIES = {model_type: import_module(f"{__name__}.{entry.recorder}") for model_type, entry in ENTRIES.items()}


def family_of(model_class):
    """The module of a class of another library than transformers, or None."""
    family = FAMILIES.get(type_of_class(model_class.__name__))
    return family if hasattr(family, "load") else None


def attention_of(config):
    """The implementation of attention: eager, unless the family names another."""
    family = FAMILIES[kind(config)]
    return family.attention(config) if hasattr(family, "attention") else "eager"
