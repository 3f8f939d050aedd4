"""Sizes that inputs depend on, from a configuration under its various names, else measured from the loaded model."""

import torch
from transformers import PretrainedConfig

# Names of the parts of a configuration, by modality.
TEXT = ("text", "decoder", "generator", "language")
IMAGE = ("vision", "image", "visual", "backbone", "encoder")
AUDIO = ("audio", "speech", "encoder")
UNLIMITED = 2**30
CHARACTERS = 1000
CHANNELS = ("num_channels", "in_channels", "in_chans", "num_input_channels")
IMAGE_SIZES = ("image_size", "img_size", "input_size")
FEATURES = ("num_mel_bins", "feature_projection_input_dim", "input_feat_per_channel", "n_mels", "feature_size", "input_dim")


def parts(config):
    """The configuration, then those nested in it, outer ones first."""
    found = [config]
    for part in found:
        found += [value for value in vars(part).values() if isinstance(value, PretrainedConfig)]
    return found


def named_parts(config, words):
    """Nested configurations whose name contains one of the words, then all others."""
    own = [value for name, value in vars(config).items() if isinstance(value, PretrainedConfig) and any(word in name for word in words)]
    found = [inner for part in own for inner in parts(part)]
    return found + [part for part in parts(config) if not any(part is other for other in found)]


def first(config, words, fields, default=None):
    """The first value of any of the fields, in the parts of one modality before the others."""
    for part in named_parts(config, words):
        for field in fields:
            value = getattr(part, field, None)
            if value is not None:
                return value
    return default


def number(value, default=None):
    """The first number of a value that may be a list, or the default."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def text_config(config):
    """The configuration of the text that the model reads."""
    try:
        return config.get_text_config()
    except ValueError:
        # Several parts could be meant; the text encoder is the one that reads.
        return next(part for name, part in vars(config).items() if isinstance(part, PretrainedConfig) and "text" in name)


def vocabulary_size(model, config):
    """The number of token ids, which no embedding may be smaller than; of characters, which have no vocabulary, the usual ones."""
    declared = number(first(config, TEXT, ("vocab_size", "src_vocab_size")))
    return min(filter(None, (declared, embedding_rows(model))), default=CHARACTERS)


def embedding_rows(model):
    """The rows of the input embedding, or None if the model does not have one."""
    try:
        table = model.get_input_embeddings()
    except (AttributeError, NotImplementedError, TypeError):
        return None
    return getattr(table, "num_embeddings", None)


def position_limit(model, config):
    """The longest text: as declared, unless positions are rotary, and at most the rows of the learned tables. A table with a padding row
    begins after it."""
    text = text_config(config)
    rotary = getattr(text, "rope_parameters", None) is not None
    declared = None if rotary else number(getattr(text, "max_position_embeddings", None))
    limits = [declared] if declared and declared > 0 else []
    for name, module in model.named_modules():
        path, _, last = name.rpartition(".")
        is_text = not any(word in path for word in ("vision", "visual", "image", "audio", "patch", "pixel"))
        if isinstance(module, torch.nn.Embedding) and "position" in last and is_text and "relative" not in name and "_2d" not in name:
            reserved = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - reserved)
    return min([*limits, UNLIMITED])


def channels(model, config):
    """The channels of an image."""
    declared = number(first(config, IMAGE, CHANNELS))
    if declared:
        return declared
    if hasattr(model, "extract_one_channel_pixel_values"):
        # SuperPoint and its relatives take images of three channels and read one of them.
        return 3
    kinds = (torch.nn.Conv2d, torch.nn.Conv3d)
    convolutions = (module for name, module in model.named_modules() if isinstance(module, kinds) and "audio" not in name)
    return next((module.in_channels for module in convolutions), 3)


def image_sides(config):
    """Height and width of the image that the configuration names, or None."""
    size = first(config, IMAGE, IMAGE_SIZES)
    if isinstance(size, dict):
        size = (size.get("height"), size.get("width"))
    if isinstance(size, int):
        return size, size
    return tuple(size[-2:]) if isinstance(size, (list, tuple)) and len(size) > 1 else None


def token_ids(config, fields):
    """The value of the first of the fields that is a token id, or None."""
    for part in parts(config):
        for field in fields:
            value = number(getattr(part, field, None))
            if value is not None and value >= 0:
                return value
    return None


def special_ids(config):
    """The ids of all tokens that have a meaning for the model, such as the place of an image."""
    values = [
        value
        for part in parts(config)
        for name, value in part.to_dict().items()
        if name.endswith(("token_id", "token_index", "token_ids")) and value is not None
    ]
    flat = [one for value in values for one in (value if isinstance(value, (list, tuple)) else [value])]
    return sorted({one for one in flat if isinstance(one, int)})
