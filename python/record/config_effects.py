"""The fields of config.json that have an effect in transformers.

For each field a value is searched with which the model computes other results, reads other weights, does not load, or does not compute, in
each implementation of attention that the class has: a check may run any of them. The check `config_effective` tries the recorded values
on an engine, where each must have an effect, too. A field without such a value is not recorded: transformers does not read it in this
configuration.
"""

import contextlib
import copy
import json
import os
import tempfile

import torch
from transformers import AutoConfig

from record import progress
from reference.families import family_of
from reference.loading import from_pretrained, prepare
from reference.results import run
from reference.weight_files import weight_bytes

# Larger checkpoints would take minutes: every field loads them again.
LARGEST = 64 << 20
# Far above the differences of two runs on any device, in f32.
VISIBLE = 1e-3
# Above the differences of two runs in TF32, too: a value that reaches it is taken, without a look at the others.
CLEAR = 5e-2
# A model that does not load is as clear. One that loads and does not compute is the last choice, because another device may compute.
NOT_LOADED = 1.0
NOT_COMPUTED = VISIBLE
# Names and versions, the type of stored weights, and switches of training and of what is returned.
UNREAD = ("_", "architectures", "dtype", "torch_dtype", "transformers_version", "output_", "return_dict", "gradient_", "model_type")
SDPA = {"attn_implementation": "sdpa"}
WORDS = (
    ("gelu", "relu", "silu", "tanh", "gelu_new", "gelu_pytorch_tanh"),
    ("full_attention", "sliding_attention"),
)


def metadata(model_class, directory, case):
    """`config.effects`; nothing for large checkpoints."""
    if weight_bytes(directory) > LARGEST:
        return {}
    return entry(effects(model_class, directory, case))


def entry(found):
    """The entry of the metadata."""
    return {"config.effects": json.dumps(found, sort_keys=True)}


def effects(model_class, directory, case):
    """The recorded values by the places of the fields, dotted in an object."""
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    found, plain = {}, list(plain_results(model_class, directory, config, case))
    for place, value in progress.counted("config", list(places(config))):
        largest = 0.0
        for other in others(value):
            setting = changed(config, place, other)
            effect = min(effect_of(model_class, directory, setting, case, *one) for one in plain)
            if effect >= VISIBLE and effect > largest:
                found[".".join(place)], largest = other, effect
            if effect >= CLEAR:
                break
    return found


def plain_results(model_class, directory, config, case):
    """The options of each implementation of attention, with the results of the checkpoint as it is."""
    yield {}, run(changed_model(model_class, directory, config), case, trace=False)
    if getattr(model_class, "_supports_sdpa", False):
        with contextlib.suppress(Exception):
            # A part of the model may lack what the class itself has.
            yield SDPA, run(changed_model(model_class, directory, config, **SDPA), case, trace=False)


def places(config, above=()):
    """Every field, and in an object of settings each of its fields, with its value."""
    for name, value in sorted(config.items()):
        if name.startswith(UNREAD) or "." in name:
            continue
        if isinstance(value, dict) and value and not any(key.isdigit() for key in value):
            yield from places(value, (*above, name))
        elif value is not None:
            yield (*above, name), value


def others(value):
    """Plausible other values, the nearest first."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value // 2, 2 * value + 1]
    if isinstance(value, float):
        if value == 0:
            # A factor of random numbers has to change what they decide, such as a number of frames.
            return [1.0]
        return [0.1] if abs(value) < 1e-2 else [1.5 * value, 4 * value, value / 64]
    if isinstance(value, str):
        return next(([word for word in words if word != value] for words in WORDS if value in words), [])
    if isinstance(value, list):
        return [[*value[:index], other, *value[index + 1 :]] for index, item in enumerate(value) for other in others(item)]
    return []


def changed(config, place, value):
    """The configuration with another value at a place."""
    config = copy.deepcopy(config)
    *above, name = place
    holder = config
    for key in above:
        holder = holder[key]
    holder[name] = value
    return config


def effect_of(model_class, directory, config, case, options, plain):
    """The largest relative change of a result; see above for a model that does not load or compute."""
    try:
        model = changed_model(model_class, directory, config, **options)
    except Exception:
        # Whatever transformers raises for such a configuration.
        return NOT_LOADED
    if model is None:
        return NOT_LOADED
    try:
        found = run(model, case, trace=False)
    except IndexError:
        # On a GPU an index out of range ends the process, whatever the configuration says.
        return 0.0
    except Exception:
        return NOT_COMPUTED
    return 1.0 if found.keys() != plain.keys() else max(change(value, found[name]) for name, value in plain.items())


def changed_model(model_class, directory, config, **options):
    """The model with a configuration in place of that of the checkpoint; None if the checkpoint lacks weights for it."""
    family = family_of(model_class)
    if family is not None:
        model, information = family.load_changed(directory, config, torch.float32)
    else:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump(config, file)
            read = AutoConfig.from_pretrained(folder)
        model, information = from_pretrained(model_class, directory, torch.float32, config=read, **options)
        prepare(model, directory)
    return None if information["missing_keys"] or information["mismatched_keys"] else model.eval()


def change(one, other):
    """The relative difference of two results; 1 for another shape, and for numbers that are not finite."""
    if one.shape != other.shape:
        return 1.0
    one, other = one.double(), other.double()
    if not torch.isfinite(other).all():
        return 1.0
    difference = float((one - other).norm())
    return difference / max(float(one.norm()), 1e-30)
