"""The checkpoint as it is read back from disk: config, class, model."""

import difflib
import json
import os

import safetensors
import torch
import transformers
from transformers import AutoConfig

from reference.errors import NeedsPackage, RecordError, user_error
from reference.families import FAMILIES, attention_of, family_of
from reference.losses import without_losses
from reference.registry import entry, kind
from reference.versions import LOAD_OPTIONS, problem


def read_config(directory):
    """The config of a supported model type, or an error that lists what is supported."""
    path = os.path.join(directory, "config.json")
    if not os.path.isfile(path):
        raise RecordError(f"`{path}` does not exist; give a directory as `save_pretrained` writes it")
    with user_error(f"`{path}` cannot be read"), open(path, encoding="utf-8") as file:
        config = json.load(file)
        model_type = kind(config)
        if model_type not in FAMILIES:
            near = difflib.get_close_matches(str(model_type), FAMILIES)
            similar = f"; types with a similar name: {', '.join(near)}" if near else ""
            raise RecordError(f"model_type `{model_type}` is not supported{similar}; `testgen show models` lists the supported types")
        if problem(model_type) is not None:
            raise NeedsPackage(*problem(model_type))
        return config if hasattr(FAMILIES[model_type], "load") else AutoConfig.from_pretrained(directory)


def class_of(config):
    """The transformers class that config.json names; guessing it could record another model's outputs."""
    if isinstance(config, dict):
        return FAMILIES[kind(config)].class_of(config)
    name = (config.architectures or [None])[0]
    if name is None:
        raise RecordError("config.json has no `architectures`; add the transformers class, such as `BertModel`")
    if name not in entry(config).classes:
        raise RecordError(f"class `{name}` of `{kind(config)}` is not supported; supported are {', '.join(entry(config).classes)}")
    model_class = getattr(transformers, name, None)
    if model_class is None:
        raise RecordError(f"transformers {transformers.__version__} has no class `{name}`")
    return model_class


def load(model_class, directory, dtype):
    """The model from disk in `dtype`."""
    if family_of(model_class) is not None:
        return family_of(model_class).load(directory, read_config(directory), dtype)
    model = load_complete(model_class, directory, dtype)
    prepare(model, directory)
    return model.eval()


def load_complete(model_class, directory, dtype):
    """The model of a class of transformers; rejects a checkpoint that lacks weights, which would be random."""
    name = model_class.__name__
    with user_error(f"`{directory}` does not load as `{name}`"):
        model, information = from_pretrained(model_class, directory, dtype)
    missing = sorted(information["missing_keys"])
    if missing:
        raise RecordError(f"`{directory}` lacks {len(missing)} weights of `{name}`, such as `{missing[0]}`")
    mismatched = sorted(information["mismatched_keys"])
    if mismatched:
        key, found, expected = mismatched[0]
        raise RecordError(f"weight `{key}` has shape {list(found)}, but config.json asks for {list(expected)}")
    return model


def prepare(model, directory):
    """Adds what a loaded model lacks."""
    family = FAMILIES[kind(model.config)]
    if hasattr(family, "prepare"):
        # The parts do not have the attention that the whole was loaded with.
        family.prepare(model, directory, "eager")


def from_pretrained(model_class, directory, dtype, **options):
    """The model, also one that lacks weights, and the account of its loading."""
    options = {"attn_implementation": attention_of(AutoConfig.from_pretrained(directory)), **LOAD_OPTIONS, **options}
    with without_losses():
        model, information = model_class.from_pretrained(
            directory, dtype=dtype, output_loading_info=True, ignore_mismatched_sizes=True, use_safetensors=True, **options
        )
    # The number of batches in training: an integer, which synthetic checkpoints lack, and which no result depends on.
    missing = {name for name in information["missing_keys"] if not name.endswith("num_batches_tracked")}
    return model, information | {"missing_keys": missing}


def describe(model_class, config, seed, noise_samples, inputs=None):
    """Metadata with the versions that made the golden and the command that makes it again."""
    repeated = " --inputs FILE" if inputs else ""
    # The name that goldens have had since the first: the same seed records the same bytes.
    return {
        "model_class": model_class.__name__,
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "safetensors": safetensors.__version__,
        "dtype": "float32",
        "attention": attention_of(config),
        "seed": str(seed),
        "command": f"python goldens.py CHECKPOINT_DIR --seed {seed} --noise-samples {noise_samples}{repeated} --force",
        **(family_of(model_class).describe() if family_of(model_class) else {}),
    }


def quiet_and_repeatable():
    """One thread, because the order of a parallel sum may change from run to run."""
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
