"""Token ids, from texts where the checkpoint has a tokenizer, else random."""

import json
import os

import numpy
import torch

from reference.errors import RecordError, user_error
from reference.registry import entry

# A model with two tokenizers has a folder for each.
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "question_encoder_tokenizer/tokenizer.json")
# The first text of a pair contains what tokenizers get wrong: accents, upper case, CJK, an emoji, characters in no vocabulary.
# The second is much shorter, so that the pair is padded.
TEXTS = (
    ("Été: 東🦀 OK? The dog isn't.", "I saw."),
    ("naïve ÜBER 京  (½), so it's", "Words!"),
    ("Ça, 1989-中🙂! It is\nthe other", "two"),
)
# The lengths of the two texts of a synthetic checkpoint.
SHORT = (9, 5)


def two_cases(directory, config, random, seed):
    """The main case (right padding), a longer case without padding, and metadata."""
    limit = position_limit(config)
    # Its rows are as wide as those of published models: fewer of them keep the golden small.
    is_synthetic = os.path.isfile(os.path.join(directory, "synthetic.json"))
    main_case, metadata = text_main_case(read_tokenizer(directory), config, random, seed, limit, is_synthetic)
    long_length = min(int(random.integers(33, 38)), limit)
    if rope_type(config) == "dynamic" and config.max_position_embeddings <= 128:
        long_length = config.max_position_embeddings + 7
    return main_case, padded_case(config, random, [long_length] * (1 if is_synthetic else 2)), metadata


def text_main_case(tokenizer, config, random, seed, limit, is_synthetic):
    """Ids of texts where the checkpoint has a tokenizer, else random ids."""
    if tokenizer is None:
        lengths = SHORT if is_synthetic else (int(random.integers(11, 18)), int(random.integers(4, 9)))
        lengths = [min(length, limit) for length in lengths]
        return padded_case(config, random, lengths), {"pad_token_id": str(pad_id(config))}
    texts = list(TEXTS[seed % len(TEXTS)])
    while max(len(ids) for ids in tokenizer(texts)["input_ids"]) > limit:
        texts = [text[: len(text) * 3 // 4] for text in texts]
    encoded = tokenizer(texts, padding="longest", padding_side="right", return_tensors="pt")
    ids = encoded["input_ids"]
    if int(ids.max()) >= config.vocab_size:
        raise RecordError(f"the tokenizer produces id {int(ids.max())}, but vocab_size is {config.vocab_size}")
    case = {"input_ids": ids, "attention_mask": encoded["attention_mask"]}
    return case, {"text": json.dumps(texts, ensure_ascii=False), "pad_token_id": str(tokenizer.pad_token_id)}


def read_tokenizer(directory):
    """The checkpoint's tokenizer, or None; one without a pad token pads with its end token, as is common."""
    if not any(os.path.isfile(os.path.join(directory, name)) for name in TOKENIZER_FILES):
        return None
    with user_error(f"the tokenizer of `{directory}` does not load"):
        # Not above: engines import this file, too, and read no tokenizer, whose import takes half a second.
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(directory)
    if getattr(tokenizer, "pad_token", "") is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def padded_case(config, random, lengths, side="right"):
    """Random ids of the given lengths; they exclude the pad id, which has a meaning for RoBERTa and for classifiers."""
    width = max(lengths)
    ids = numpy.full((len(lengths), width), pad_id(config), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    drawable = numpy.setdiff1d(numpy.arange(config.vocab_size), [pad_id(config)])
    for row, length in enumerate(lengths):
        place = slice(0, length) if side == "right" else slice(width - length, width)
        ids[row, place] = random.choice(drawable, length)
        mask[row, place] = 1
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}


def left_padded_case(config, random, limit):
    """Left padding with the position ids that `generate()` builds."""
    case = padded_case(config, random, [min(length, limit) for length in (11, 7, 4)], side="left")
    mask = case["attention_mask"]
    case["position_ids"] = (mask.cumsum(-1) - 1).masked_fill(mask == 0, 0)
    return case


def pad_id(config):
    """The id that fills padding; models without a pad token mask it, so any id serves."""
    end = config.eos_token_id[0] if isinstance(config.eos_token_id, list) else config.eos_token_id
    return next((i for i in (config.pad_token_id, end) if i is not None and 0 <= i < config.vocab_size), 0)


def rope_type(config):
    """The rotary embedding's kind, or None for learned positions."""
    return (getattr(config, "rope_parameters", None) or {}).get("rope_type")


def position_limit(config):
    """The longest sequence that the position table permits; other kinds of positions have no limit that matters here."""
    if rope_type(config) is not None or getattr(config, "max_position_embeddings", None) is None:
        return 2**30
    reserved = {"roberta::Roberta": (config.pad_token_id or 0) + 1, "mpnet::Mpnet": 2}.get(entry(config).definition, 0)
    return config.max_position_embeddings - reserved
