"""`synthetic.json`: the tensors of a model whose weights are computed from a seed.

transformers builds the class without memory, and what it would save is listed: names, shapes and types, each with the mean and the
standard deviation of trained-like values. crates/checkpoints computes the values, so that it needs to know no model.
"""

import json
import os
import re

import torch
from transformers import PreTrainedModel

from record.atomic_file import replace_file
from record.quantized_layers import QuantizedLayers
from record.recipe_values import RecipeValues
from reference.errors import user_error
from reference.loading import class_of, quiet_and_repeatable, read_config

FILE = "synthetic.json"
TYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}


def write(directory, seed, scheme=None):
    """Writes `directory`/synthetic.json for `directory`/config.json, and generation_config.json if the class generates.

    With a scheme, the tensors that it quantizes are marked.
    """
    quiet_and_repeatable()
    config = read_config(directory)
    model_class = class_of(config)
    with user_error(f"`{model_class.__name__}` cannot be built from this configuration"), torch.device("meta"):
        # Configurations of diffusers are dicts.
        model = model_class.from_config(config) if isinstance(config, dict) else model_class(config)
        tensors = grouped(saved(model, scheme))
    if isinstance(model, PreTrainedModel) and model.can_generate():
        model.generation_config.save_pretrained(directory)
    lines = ",\n".join(json.dumps(tensor, ensure_ascii=False) for tensor in tensors)
    quantise = "" if scheme is None else f'"quantise": {json.dumps(scheme)}, '
    text = f'{{"seed": {seed}, {quantise}"tensors": [\n{lines}\n]}}\n'
    replace_file(os.path.join(directory, FILE), text.encode())


def saved(model, scheme=None):
    """The lines of the tensors that `save_pretrained` would write, by name."""
    state, owners, modules = model.state_dict(keep_vars=True), {}, dict(model.named_modules())
    for name, tensor in state.items():
        owners.setdefault(id(tensor), modules.get(name.rpartition(".")[0]))
    dtype = TYPES[getattr(model.config, "dtype", None) or torch.float32]
    state = {name: tensor for name, tensor in untied(model, state).items() if tensor.is_floating_point()}
    # Renamed tensors are the same objects; the parts of a split one have no owner.
    found = {name: (owners.get(id(tensor)), list(tensor.shape)) for name, tensor in reverted(model, state).items()}
    values, layers = RecipeValues(model), QuantizedLayers(model, scheme)
    lines = {name: line(dtype, shape, *values.of(owner, name, shape)) for name, (owner, shape) in found.items()}
    for name in layers.select(found):
        lines[name]["quantise"] = True
    return lines


def untied(model, state):
    """Without the second names of tied weights."""
    by_tensor = {}
    for name, tensor in state.items():
        by_tensor.setdefault(id(tensor), []).append(name)
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    second = {name for names in by_tensor.values() if len(names) > 1 for name in names if name in tied}
    ignored = set(getattr(model, "_keys_to_ignore_on_save", None) or ())
    return {name: tensor for name, tensor in state.items() if name not in second | ignored}


def reverted(model, state):
    """With the names and shapes of the file, where they differ from those of the class."""
    if not isinstance(model, PreTrainedModel):
        return state
    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:
        return state
    return revert_weight_conversion(model, state)


def line(dtype, shape, mean, std):
    """The line of one tensor, without its name."""
    # Six digits, which every parser of JSON reads as the same float32.
    mean, std = (float(f"{value:.6g}") for value in (mean, std))
    return {"dtype": dtype, "shape": shape, "mean": mean, "std": std}


def grouped(lines):
    """Tensors that differ in the first number of their names only are one line with their count, so that 80 layers are as short as one."""
    groups = {}
    for name, line in lines.items():
        groups.setdefault((re.sub(r"(?<=\.)\d+(?=\.)", "*", name, count=1), json.dumps(line)), []).append(name)
    found = []
    for (pattern, line), names in groups.items():
        if len(names) > 1 and set(names) == {pattern.replace("*", str(number), 1) for number in range(len(names))}:
            found.append({"name": pattern, "count": len(names)} | json.loads(line))
        else:
            found += [{"name": name} | json.loads(line) for name in names]
    return found
