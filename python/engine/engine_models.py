"""Loading checkpoints: part of the engine `torch`."""

import json
import os
import tempfile
from dataclasses import dataclass

import torch
import transformers
from safetensors import safe_open

from engine import torch_split
from engine.engine_device import set_modules_aside
from engine.engine_protocol import CallError, Unsupported
from reference.families import FAMILIES
from reference.losses import without_losses
from reference.registry import is_native, kind
from reference.weight_files import weight_files

MAJOR = int(transformers.__version__.split(".")[0])


@dataclass
class Request:
    """The arguments of `load`."""

    directory: str
    config: dict | None
    model_type: str
    class_name: str
    dtype: torch.dtype
    attention: str | None
    experts: str | None
    # Whether the layers are on all GPUs.
    split: bool = False


def load(request, device):
    """The model on the device, the names of the tensors that it has read, and of those that it has no use for."""
    if request.model_type not in FAMILIES:
        raise Unsupported(f"model_type `{request.model_type}` is unknown to this engine")
    if request.config is not None and kind(request.config) != request.model_type:
        raise CallError(f"config.json says `{kind(request.config)}`, not `{request.model_type}`")
    if hasattr(FAMILIES[request.model_type], "load"):
        return load_diffusers(request, device)
    model_class = imported(transformers, request.class_name)
    if model_class is None:
        raise Unsupported(f"transformers {transformers.__version__} has no class `{request.class_name}`")
    model, information = from_pretrained(model_class, request)
    refuse_incomplete(request, model, information)
    refuse_experts(model)
    if MAJOR < 5:
        refuse_positions(model.config)
    prepare(request, model)
    unexpected = set(information["unexpected_keys"])
    names = tensor_names(request.directory)
    model = torch_split.split(model, device) if request.split else model.to(device)
    return model.eval(), [name for name in names if name not in unexpected], sorted(unexpected)


# The classes that were loaded before, by name.
IMPORTED = set()


def imported(library, name):
    """A class of a library, which imports its module at the first use; None if there is none."""
    found = getattr(library, name, None)
    # Not after a model of the class was loaded: one that remains in memory must be counted.
    if name not in IMPORTED:
        IMPORTED.add(name)
        set_modules_aside()
    return found


def from_pretrained(model_class, request):
    """The model with the account of its loading."""
    options = {"dtype": request.dtype, "output_loading_info": True, "ignore_mismatched_sizes": True, "use_safetensors": True}
    if request.attention is not None:
        refuse_attention(model_class, request.attention)
        options["attn_implementation"] = request.attention
    if request.experts is not None:
        options["experts_implementation"] = request.experts
    given = request.config or read_config(request.directory)
    config = without_choices(given)
    if request.config is not None or config != given:
        options["config"] = config_of(model_class, config)
    try:
        with without_losses():
            return model_class.from_pretrained(request.directory, **options)
    except ImportError as error:
        raise Unsupported(str(error)) from error
    except ValueError as error:
        # A part of the model, as DETR's backbone, may lack what the class itself has. Some classes compute their experts in one way only.
        lacks_attention = request.attention is not None and "attention implementation" in str(error)
        lacks_experts = request.experts is not None and "experts implementation" in str(error)
        if lacks_attention or lacks_experts:
            raise Unsupported(str(error).split(". ")[0]) from error
        raise


def implementations():
    """The implementations of attention and of experts, by the names that `load` takes."""
    attention = ["eager", "sdpa"]
    if torch.cuda.is_available() and transformers.utils.is_flash_attn_2_available():
        attention.append("flash_attention_2")
    found = {"attention": attention}
    # transformers 4 computes experts one after another, and passes unknown options to the model, which rejects them.
    if MAJOR >= 5:
        found["experts"] = ["eager", "batched_mm", "grouped_mm"]
    return found


def refuse_attention(model_class, attention):
    """transformers reports some, and computes others by `eager` without a word."""
    names = {"sdpa": "_supports_sdpa", "flash_attention_2": "_supports_flash_attn"}
    if attention in names and not getattr(model_class, names[attention], False):
        raise Unsupported(f"`{model_class.__name__}` of transformers {transformers.__version__} has no attention `{attention}`")


def refuse_experts(model):
    """The product of all experts at once needs rows of a multiple of 16 bytes; experts one after another do not."""
    if getattr(model.config, "_experts_implementation", None) != "grouped_mm":
        return
    experts = (module for module in model.modules() if type(module).__name__.endswith("Experts"))
    weights = [weight for module in experts for weight in module.parameters() if weight.ndim == 3]
    if any(weight.shape[-1] * weight.element_size() % 16 or weight.shape[-2] * weight.element_size() % 16 for weight in weights):
        why = "the sizes of the experts are not multiples of 16 bytes, which torch's grouped product needs"
        raise Unsupported(f"{why}; torch/eager has no such limit")


# Fields of config.json that name an implementation. transformers writes none of them, but reads them.
CHOICES = ("attn_implementation", "_attn_implementation", "experts_implementation", "_experts_implementation")


def without_choices(config):
    """A configuration, or a part of it, without the implementations that it names: the column chooses."""
    if not isinstance(config, dict):
        return config
    return {name: without_choices(value) for name, value in config.items() if name not in CHOICES}


def read_config(directory):
    """The configuration of a checkpoint."""
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        return json.load(file)


def config_of(model_class, config):
    """The configuration in place of that of the checkpoint; transformers reads it from a file as it would read that one."""
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return model_class.config_class.from_pretrained(directory)


def refuse_positions(config):
    """transformers 4 does not read the rotary positions that transformers 5 writes, and computes with its defaults without a word."""
    own = {"full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta"}
    for part in (config, getattr(config, "text_config", None)):
        written = getattr(part, "rope_parameters", None) or {}
        by_layer = all(isinstance(values, dict) for values in written.values())
        for name, values in (written if by_layer else {"": written}).items():
            theta = getattr(part, own.get(name, "rope_theta"), None)
            scaled = values.get("rope_type", "default") != "default" and not getattr(part, "rope_scaling", None)
            share = values.get("partial_rotary_factor")
            partial = share not in (None, getattr(part, "rotary_pct", None), getattr(part, "partial_rotary_factor", None))
            if values.get("rope_theta", theta) != theta or scaled or partial:
                what = "`rope_parameters` of config.json, which transformers 5 writes"
                raise CallError(f"transformers {transformers.__version__} does not read {what}; its defaults are other positions")


def refuse_incomplete(request, model, information):
    """A tensor that is not in the checkpoint, or has another shape, would be random."""
    # Integers are indices that the constructor computes; not every version of transformers writes them.
    computed = {name for name, value in model.named_buffers() if not value.is_floating_point()}
    missing = sorted(set(information["missing_keys"]) - computed)
    if missing:
        raise CallError(f"the checkpoint lacks {len(missing)} weights of `{request.class_name}`, such as `{missing[0]}`")
    mismatched = sorted(information["mismatched_keys"])
    if mismatched:
        # transformers 4 names them without their shapes.
        if isinstance(mismatched[0], str):
            raise CallError(f"weight `{mismatched[0]}` has another shape than the configuration asks for")
        key, found, expected = mismatched[0]
        raise CallError(f"weight `{key}` has shape {list(found)}, the configuration asks for {list(expected)}")


def prepare(request, model):
    """Adds what a loaded model lacks."""
    family = FAMILIES[request.model_type]
    if hasattr(family, "prepare"):
        try:
            family.prepare(model, request.directory, request.attention)
        except ImportError as error:
            raise Unsupported(str(error)) from error


def load_diffusers(request, device):
    """A model of diffusers, which reports no account: its loader fails for a tensor that is missing."""
    if request.split:
        raise Unsupported("layers of a model of diffusers are not split")
    try:
        import diffusers
        from diffusers.models.attention_processor import AttnProcessor, AttnProcessor2_0
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        what = f"Python package `{error.name}` is missing" if missing else f"diffusers does not import: {error}"
        raise Unsupported(f"{what}; pip install diffusers") from error
    model_class = imported(diffusers, request.class_name)
    if model_class is None:
        raise Unsupported(f"diffusers {diffusers.__version__} has no class `{request.class_name}`")
    directory = request.directory
    if request.config is not None:
        model, information = FAMILIES[request.model_type].load_changed(directory, request.config, request.dtype)
    else:
        options = {"torch_dtype": request.dtype, "low_cpu_mem_usage": False, "use_safetensors": True, "output_loading_info": True}
        model, information = model_class.from_pretrained(directory, **options)
        model = FAMILIES[request.model_type].rounded(model, request.dtype)
    # The plain forms of attention are those of the native types; other classes have their own.
    if request.attention is not None and not is_native(model.config):
        raise Unsupported(f"diffusers {diffusers.__version__} has one attention for `{request.class_name}`")
    if request.attention not in (None, "eager", "sdpa"):
        raise Unsupported(f"diffusers has no attention `{request.attention}` by that name")
    if request.attention is not None:
        model.set_attn_processor(AttnProcessor() if request.attention == "eager" else AttnProcessor2_0())
    refuse_incomplete(request, model, information)
    unexpected = set(information["unexpected_keys"])
    names = tensor_names(directory)
    return model.to(device).eval(), [name for name in names if name not in unexpected], sorted(unexpected)


def tensor_names(directory):
    """The names of all tensors of the checkpoint, sorted."""
    names = []
    for file in weight_files(directory):
        with safe_open(file, "pt") as tensors:
            names += tensors.keys()
    return sorted(names)
