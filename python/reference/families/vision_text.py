"""Inputs and results of image-text models."""

import json
import os

import numpy
import torch

from reference.errors import RecordError
from reference.image_inputs import image_size, processed_images, random_pixels
from reference.registry import entry
from reference.text_inputs import TEXTS, pad_id, padded_case, read_tokenizer

# CLIP reads a text at its end token. Files from before transformers 4.31 have 2 there, and the largest id counts.
LEGACY_END = 2


def cases(directory, config, random, seed):
    """Main case from texts and images; then longer texts with another number of images."""
    text, metadata = texts(directory, config, random, seed)
    pixels, tensors, more = images(directory, config, random)
    height, width = pixels.shape[-2:]
    other = random_pixels(config, random, 3, config.vision_config.num_channels, height, width)
    longer = long_texts(config, random)
    both = [text | {"pixel_values": pixels}, longer | {"pixel_values": other}]
    return both, tensors, metadata | more


def texts(directory, config, random, seed):
    """The main case's texts where the checkpoint has a tokenizer, else random ids of two lengths."""
    tokenizer, inner = read_tokenizer(directory), config.text_config
    limit = inner.max_position_embeddings
    if tokenizer is None:
        case = with_ends(padded_case(inner, random, [min(11, limit), min(6, limit)]), config)
        return filled(case, config, pad_id(inner)), {"pad_token_id": str(pad_id(inner))}
    lines = list(TEXTS[seed % len(TEXTS)])
    while max(len(ids) for ids in tokenizer(lines)["input_ids"]) > limit:
        lines = [line[: len(line) * 3 // 4] for line in lines]
    encoded = tokenizer(lines, padding="longest", padding_side="right", return_tensors="pt")
    if int(encoded["input_ids"].max()) >= inner.vocab_size:
        raise RecordError(f"the tokenizer produces id {int(encoded['input_ids'].max())}, but vocab_size is {inner.vocab_size}")
    case = {name: encoded[name] for name in ("input_ids", "attention_mask") if name in encoded}
    metadata = {"text": json.dumps(lines, ensure_ascii=False), "pad_token_id": str(tokenizer.pad_token_id)}
    return filled(case, config, tokenizer.pad_token_id), metadata


def long_texts(config, random):
    """Two texts: of one length for CLIP, with room for the five columns that checks add; with a mask for SigLIP."""
    inner = config.text_config
    length = min(int(random.integers(33, 38)), inner.max_position_embeddings - 5)
    lengths = [length, length - (7 if scored_alone(config) else 0)]
    return with_ends(padded_case(inner, random, lengths), config)


def scored_alone(config):
    """Whether each pair is scored by itself: SigLIP and its relatives, which read the last column of a text instead of its end."""
    return entry(config).scores == "sigmoid"


def filled(case, config, pad):
    """SigLIP reads the last column, so its texts fill all positions, and padding is not masked."""
    if not scored_alone(config):
        return case
    ids = case["input_ids"]
    missing = config.text_config.max_position_embeddings - ids.shape[1]
    return {"input_ids": torch.nn.functional.pad(ids, (0, missing), value=pad)}


def with_ends(case, config):
    """The last real token of each row becomes the end token, and no other token is one; the first token is the largest id."""
    if scored_alone(config):
        return case
    ids, mask = case["input_ids"], case["attention_mask"]
    end = config.text_config.eos_token_id
    end = config.text_config.vocab_size - 1 if end == LEGACY_END else end
    ids[ids == end] = end - 1
    ids[:, 0] = max(ids.max(), config.text_config.vocab_size - 1 if end < config.text_config.vocab_size - 1 else 0)
    ids[torch.arange(len(ids)), mask.sum(-1) - 1] = end
    return case


def images(directory, config, random):
    """Pixels of the main case, from images where the checkpoint has an image processor."""
    inner = config.vision_config
    height, width = image_size(inner)
    names = ("preprocessor_config.json", "processor_config.json")
    if inner.num_channels == 3 and any(os.path.isfile(os.path.join(directory, name)) for name in names):
        drawn, pixels, metadata = processed_images(directory, height, width, random)
        return pixels, {f"image.{index}": torch.from_numpy(numpy.array(image)) for index, image in enumerate(drawn)}, metadata
    return random_pixels(config, random, 2, inner.num_channels, height, width), {}, {}


def trace(result):
    """Hidden states of the text encoder, then those of the image encoder; only the first counts as the embedding."""
    states = [*result.text_model_output.hidden_states, *result.vision_model_output.hidden_states]
    return {"trace.embed" if i == 0 else f"trace.layer.{i - 1}": state for i, state in enumerate(states)}
