"""The texts of requests to checkpoints whose golden has none, because they got their tokenizer afterwards: part of `answers.py`."""

import itertools

import torch
from transformers import GenerationMixin

from record.expert_margin import CLOSE, smallest_margin
from reference.loading import load
from reference.registry import is_native

# The tokens of a generated answer.
NEW_TOKENS = 6
PLAIN_TEXTS = ["The cat is there, the dog saw it.", "I saw.", "They are here.", "We saw it there.", "She saw a dog.", "It is there."]
COUNT = 2


def plain_texts(subject):
    """The texts of a request. For a mixture, those of which no token's choice of experts is close, the answer included: otherwise the
    noise may be that of other experts, many times the rounding of the same experts."""
    if not subject.has_routing or not is_native(subject.config):
        return PLAIN_TEXTS[:COUNT]
    rounded = load(subject.model_class, subject.directory, torch.bfloat16)
    settled = (text for text in PLAIN_TEXTS if margin_of(subject, rounded, text) >= CLOSE)
    found = list(itertools.islice(settled, COUNT))
    return found if len(found) == COUNT else PLAIN_TEXTS[:COUNT]


def margin_of(subject, rounded, text):
    """The smallest margin over the tokens of a text and of its continuation."""
    ids = torch.tensor([subject.tokenizer(text)["input_ids"]])
    case = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if subject.model.can_generate():
        continued = GenerationMixin.generate(subject.model, **case, max_new_tokens=NEW_TOKENS, do_sample=False, num_beams=1)
        # The last token is the answer of the one before it, and is not read.
        case = {"input_ids": continued[:, :-1], "attention_mask": torch.ones_like(continued[:, :-1])}
    return smallest_margin(subject.model, rounded, case, subject.model.config.num_experts_per_tok)
