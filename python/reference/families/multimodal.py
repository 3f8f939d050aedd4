"""Inputs of decoders that read text with images."""

import json

import torch

from reference import generation
from reference.families import vision_text
from reference.image_inputs import random_pixels
from reference.text_inputs import TEXTS, left_padded_case, pad_id, padded_case, read_tokenizer

# Results whose first dimension is not the batch.
IGNORED = ("image_hidden_states",)


def cases(directory, config, random, seed):
    """Main case of texts with an image each; then longer rows without padding, and three rows padded on the left."""
    main, tensors, metadata = main_case(directory, config, random, seed)
    text = config.text_config
    left = with_images(config, random, left_padded_case(text, random, 2**30), 7)
    longer = with_images(config, random, padded_case(text, random, [14, 14]), 5)
    return [main, longer, left], tensors, metadata


def generated(model, config, random, _cases):
    """Greedy tokens of two rows of one length, each with an image."""
    prompt = with_images(config, random, padded_case(config.text_config, random, [6, 6]), 2)
    return generation.generate(model, config.text_config, random, prompt)


def image_tokens(config):
    """The number of tokens that represent an image."""
    side = config.vision_config.image_size // config.vision_config.patch_size
    return side * side + (config.vision_feature_select_strategy == "full")


def with_images(config, random, case, place):
    """The case with an image in every row, `place` tokens from the right, and its pixels."""
    ids, mask = case["input_ids"], case["attention_mask"]
    ids[ids == config.image_token_index] = config.image_token_index - 3
    count, start = image_tokens(config), ids.shape[1] - min(place, int(mask.sum(-1).min()) - 1)

    def put(row, values):
        return torch.cat([row[:, :start], values.expand(len(row), count), row[:, start:]], 1)

    case = {
        "input_ids": put(ids, torch.tensor([[config.image_token_index]])),
        "attention_mask": put(mask, torch.ones(1, 1, dtype=torch.int64)),
    }
    if int(mask.min()) == 0:
        full = case["attention_mask"]
        case["position_ids"] = (full.cumsum(-1) - 1).masked_fill(full == 0, 0)
    vision = config.vision_config
    return case | {"pixel_values": random_pixels(config, random, len(ids), vision.num_channels, vision.image_size, vision.image_size)}


def main_case(directory, config, random, seed):
    """Two texts after an image, one of them padded on the right; random ids where the checkpoint has no tokenizer."""
    pixels, tensors, metadata = vision_text.images(directory, config, random)
    tokenizer = read_tokenizer(directory)
    if tokenizer is None:
        case = with_images(config, random, padded_case(config.text_config, random, [12, 12]), 8)
        case["attention_mask"][1, -4:] = 0
        case["input_ids"][1, -4:] = pad_id(config.text_config)
        return case | {"pixel_values": pixels}, tensors, metadata | {"pad_token_id": str(pad_id(config.text_config))}
    image = tokenizer.convert_ids_to_tokens(config.image_token_index)
    lines = [image * image_tokens(config) + line for line in TEXTS[seed % len(TEXTS)]]
    encoded = tokenizer(lines, padding="longest", padding_side="right", return_tensors="pt")
    case = {name: encoded[name] for name in ("input_ids", "attention_mask")} | {"pixel_values": pixels}
    return case, tensors, metadata | {"text": json.dumps(lines, ensure_ascii=False), "pad_token_id": str(tokenizer.pad_token_id)}
