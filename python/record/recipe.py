"""`synthetic.json`: the tensors of a model whose weights are computed from a seed: part of the recorder `goldens.py`.

transformers builds the class without memory, and what it would save is listed: names, shapes and types, each with the mean and the
standard deviation of trained-like values. crates/synthetic computes the values, so that it needs to know no model.
"""

import json
import os
import re

import torch

from atomic_file import replace_file
from errors import RecordError, user_error
from reference import class_of, quiet_and_repeatable, read_config
from weight_statistics import statistics

FILE = "synthetic.json"
TYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}


def write(directory, seed):
    """Writes `directory`/synthetic.json for `directory`/config.json, and generation_config.json if the class generates."""
    quiet_and_repeatable()
    config = read_config(directory)
    if isinstance(config, dict):
        raise RecordError(f"`{config.get('_class_name')}` is of diffusers; synthetic checkpoints are of classes of transformers")
    model_class = class_of(config)
    with user_error(f"`{model_class.__name__}` cannot be built from this configuration"), torch.device("meta"):
        model = model_class(config)
        tensors = grouped(saved(model))
    if model.can_generate():
        model.generation_config.save_pretrained(directory)
    lines = ",\n".join(json.dumps(tensor, ensure_ascii=False) for tensor in tensors)
    text = f'{{"seed": {seed}, "tensors": [\n{lines}\n]}}\n'
    replace_file(os.path.join(directory, FILE), text.encode())


def saved(model):
    """The lines of the tensors that `save_pretrained` would write, by name."""
    state, owners, modules = model.state_dict(keep_vars=True), {}, dict(model.named_modules())
    for name, tensor in state.items():
        owners.setdefault(id(tensor), modules.get(name.rpartition(".")[0]))
    dtype = TYPES[model.config.dtype or torch.float32]
    state = {name: tensor for name, tensor in untied(model, state).items() if tensor.is_floating_point()}
    # Renamed tensors are the same objects; the parts of a split one have no owner.
    return {name: line(owners.get(id(tensor)), name, list(tensor.shape), dtype) for name, tensor in reverted(model, state).items()}


def untied(model, state):
    """Without the second names of tied weights."""
    by_tensor = {}
    for name, tensor in state.items():
        by_tensor.setdefault(id(tensor), []).append(name)
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    second = {name for names in by_tensor.values() if len(names) > 1 for name in names if name in tied}
    ignored = set(model._keys_to_ignore_on_save or ())
    return {name: tensor for name, tensor in state.items() if name not in second | ignored}


def reverted(model, state):
    """With the names and shapes of the file, where they differ from those of the class."""
    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:
        return state
    return revert_weight_conversion(model, state)


def line(owner, name, shape, dtype):
    """The line of one tensor, without its name."""
    # Six digits, which every parser of JSON reads as the same float32.
    mean, std = (float(f"{value:.6g}") for value in statistics(owner, name, shape))
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
