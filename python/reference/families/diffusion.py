"""Loading, running and tracing models of diffusers.

Inputs are drawn for the native types. Any other class is recorded with inputs from a file, and computes them as it is: with its own
attention, and results by their names.
"""

import torch

from reference import forward_arguments
from reference.errors import RecordError, user_error
from reference.image_inputs import random_pixels
from reference.registry import is_native
from reference.weight_files import weight_files

EMBEDDED = ("timestep", "time_ids")


def class_of(config):
    """The class that `_class_name` of config.json names."""
    import diffusers

    name = config["_class_name"]
    if not hasattr(diffusers, name):
        raise RecordError(f"diffusers {diffusers.__version__} has no class `{name}`; pip install --upgrade diffusers")
    return getattr(diffusers, name)


def load(directory, config, dtype):
    """The model from disk in `dtype`; a native type with attention as plain products and softmax."""
    from diffusers.models.attention_processor import AttnProcessor

    with user_error(f"`{directory}` does not load as `{config['_class_name']}`"):
        model = class_of(config).from_pretrained(directory, torch_dtype=dtype, low_cpu_mem_usage=False, use_safetensors=True)
    if is_native(config):
        model.set_attn_processor(AttnProcessor())
    return rounded(model, dtype).eval()


def rounded(model, dtype):
    """The model with its parameters in `dtype`. The loader of diffusers 0.42 leaves those of some classes in the type of the file."""
    kept = set(getattr(model, "_keep_in_fp32_modules", None) or ())
    for name, value in model.named_parameters():
        if value.is_floating_point() and not kept & set(name.split(".")):
            value.data = value.data.to(dtype)
    return model


def load_changed(directory, config, dtype):
    """The model with a configuration in place of that of the checkpoint, and the account of its loading, as transformers has it."""
    from diffusers.utils import logging
    from safetensors.torch import load_file

    # It warns of an empty list of modules for every change of the type.
    logging.set_verbosity_error()
    model, state = class_of(config).from_config(config).to(dtype), {}
    for file in weight_files(directory):
        state |= load_file(file)
    expected = model.state_dict()
    known = {name: (value.shape, expected[name].shape) for name, value in state.items() if name in expected}
    mismatched = [(name, found, target) for name, (found, target) in known.items() if found != target]
    if not mismatched:
        model.load_state_dict(state, strict=False)
    missing, unexpected = ([name for name in names if name not in others] for names, others in ((expected, state), (state, expected)))
    return model, {"missing_keys": missing, "mismatched_keys": mismatched, "unexpected_keys": unexpected}


def describe():
    """The version, for the metadata."""
    import diffusers

    return {"diffusers": diffusers.__version__}


def given(model, inputs):
    """Inputs from a file, each with a row for each sample: checks compute rows alone and in another order."""
    rows = {name: value.shape[0] if value.ndim else 0 for name, value in inputs.items()}
    most = max(rows, key=rows.get)
    fewer = next((name for name, count in rows.items() if count != rows[most]), None)
    if fewer is not None:
        found = f"`{fewer}` has {rows[fewer]} rows and `{most}` {rows[most]}"
        raise RecordError(f"{found}; every argument of `{type(model).__name__}` needs a row for each sample")
    return inputs


def cases(_directory, config, random, _seed):
    """Two samples, then three of another size; for an autoencoder also latents without an image."""
    if not is_native(config):
        raise RecordError(f"no inputs of `{config['_class_name']}` are drawn; give them with --inputs FILE{needed(class_of(config))}")
    if "latent_channels" in config:
        factor = 2 ** (len(config["block_out_channels"]) - 1)
        images = [
            {"sample": random_pixels(config, random, count, config["in_channels"], *size)} for count, size in ((2, (16, 16)), (3, (8, 24)))
        ]
        latents = {"z": normal(random, 2, config["latent_channels"], 8 // factor * 2, 16 // factor)}
        return [*images, latents], {}, {}
    return [unet_case(config, random, 2, (8, 8), 5), unet_case(config, random, 3, (6, 10), 7)], {}, {}


def unet_case(config, random, count, size, length):
    """Noise at a different step for each row, and a condition."""
    width = config["cross_attention_dim"]
    width = width if isinstance(width, int) else width[0]
    case = {
        "sample": normal(random, count, config["in_channels"], *size),
        "timestep": torch.from_numpy(random.choice(1000, count, replace=False)),
        "encoder_hidden_states": normal(random, count, length, width),
    }
    if config.get("num_class_embeds") is not None:
        case["class_labels"] = torch.from_numpy(random.integers(0, config["num_class_embeds"], count))
    if config.get("addition_embed_type") == "text_time":
        pooled = config["projection_class_embeddings_input_dim"] - 6 * config["addition_time_embed_dim"]
        case["text_embeds"] = normal(random, count, pooled)
        case["time_ids"] = torch.from_numpy(random.integers(0, 64, (count, 6)).astype("float32"))
    return case


def needed(model_class):
    """The arguments that the class needs, for a message."""
    names = ", ".join(f"`{name}`" for name in forward_arguments.required(model_class) if name != "self")
    return f", which needs {names}" if names else ""


def normal(random, *shape):
    """Normal noise."""
    return torch.from_numpy(random.normal(0, 1, shape).astype("float32"))


@torch.no_grad()
def run(model, case, trace):
    """The results of one call; of a UNet the first convolution and every block are traced."""
    # Numbers that the model embeds in float32, whatever its type: in bfloat16 step 667 would be step 668.
    inputs = {name: value.to(model.dtype) if value.is_floating_point() and name not in EMBEDDED else value for name, value in case.items()}
    if not is_native(model.config):
        return by_name(model(**inputs))
    if hasattr(model, "encode"):
        return autoencode(model, inputs)
    added = {name: inputs.pop(name) for name in ("text_embeds", "time_ids") if name in inputs}
    if added:
        inputs["added_cond_kwargs"] = added
    named, hooks = {}, []
    if trace:
        places = [model.conv_in, *model.down_blocks, model.mid_block, *model.up_blocks]
        for index, place in enumerate(places):
            name = f"trace.layer.{index - 1}" if index else "trace.embed"
            hooks.append(
                place.register_forward_hook(lambda _, __, out, name=name: named.update({name: out[0] if isinstance(out, tuple) else out}))
            )
    sample = model(**inputs).sample
    for hook in hooks:
        hook.remove()
    return {"sample": sample} | named


def by_name(result):
    """The tensors of a result, those in a list with their numbers."""
    found = {}
    for name, value in result.items() if hasattr(result, "items") else {"output": result}.items():
        listed = {f"{name}.{index}": one for index, one in enumerate(value)} if isinstance(value, (list, tuple)) else {name: value}
        found |= {key: one for key, one in listed.items() if isinstance(one, torch.Tensor) and one.is_floating_point() and one.numel()}
    if not found:
        raise RecordError("the class returns no tensor of numbers")
    return found


def autoencode(model, inputs):
    """The distribution of an image, and its mean decoded; latents are decoded as they are."""
    if "z" in inputs:
        return {"sample": model.decode(inputs["z"]).sample}
    distribution = model.encode(inputs["sample"]).latent_dist
    mean = distribution.mode()
    return {"mean": mean, "logvar": distribution.logvar, "sample": model.decode(mean).sample}
