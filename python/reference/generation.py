"""Greedy tokens, their logits and margins."""

import torch
from transformers import GenerationConfig, GenerationMixin

from reference.decoder_inputs import start_id
from reference.text_inputs import pad_id, padded_case, position_limit

NEW_TOKENS = 16


def steps(tensors, case):
    """One call that reads all generated tokens except the last, and the position whose logits chose the first; or None."""
    if "tokens.greedy" not in tensors:
        return None
    read = tensors["tokens.greedy"][:, :-1]
    if "tokens.start" in tensors:
        start = tensors["tokens.start"]
        source = {name: value for name, value in case.items() if not name.startswith("decoder_")}
        return source | {"decoder_input_ids": torch.cat([start, read], 1)}, start.shape[1] - 1
    prompt = {name: tensors[f"tokens.{name}"] for name in ("pixel_values",) if f"tokens.{name}" in tensors}
    ids = torch.cat([tensors["tokens.prompt"], read], 1)
    return prompt | {"input_ids": ids}, tensors["tokens.prompt"].shape[1] - 1


def generate(model, config, random, prompt=None):
    """Greedy tokens with the cache, their raw logits and top-1/top-2 gaps; a fresh generation config has no end token."""
    length = min(8, position_limit(config) // 2)
    prompt = padded_case(config, random, [length, length]) if prompt is None else prompt
    return greedy(model, prompt, position_limit(config), pad_id(config))


def greedy(model, prompt, limit, pad):
    """Greedy tokens after a prompt, of at most `limit` tokens with it."""
    length = prompt["input_ids"].shape[1]
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=min(NEW_TOKENS, limit - length),
        return_dict_in_generate=True,
        output_logits=True,
        pad_token_id=pad,
    )
    with torch.no_grad():
        result = model.generate(**prompt)
    logits = torch.stack(result.logits, dim=1).float()
    top = logits.topk(2, dim=-1).values
    return {
        "tokens.prompt": prompt["input_ids"],
        **{f"tokens.{name}": prompt[name] for name in ("pixel_values",) if name in prompt},
        "tokens.greedy": result.sequences[:, length:],
        "tokens.logits": logits,
        "margin.greedy": top[..., 0] - top[..., 1],
    }


def generate_from_source(model, config, case):
    """Like `generate`, from the encoder's input of the main case; the decoder begins with its start token.

    The cache of transformers has as many layers as the encoder, so a deeper decoder generates without a cache.
    """
    decoder_layers = getattr(config, "num_decoder_layers", None) or getattr(config, "decoder_layers", 0)
    limit = getattr(config, "max_target_positions", position_limit(config))
    return greedy_from_source(model, case, limit, start_id(config), pad_id(config), use_cache=decoder_layers <= config.num_hidden_layers)


def greedy_from_source(model, case, limit, start, pad, use_cache=True):
    """Greedy tokens from the encoder's input of a case."""
    source = {name: value for name, value in case.items() if not name.startswith("decoder_")}
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=min(NEW_TOKENS, limit - 1),
        decoder_start_token_id=start,
        use_cache=use_cache,
        return_dict_in_generate=True,
        output_logits=True,
        pad_token_id=pad,
    )
    with torch.no_grad():
        # Whisper's own `generate` splits audio into segments.
        result = GenerationMixin.generate(model, **source)
    logits = torch.stack(result.logits, dim=1).float()
    top = logits.topk(2, dim=-1).values
    return {
        "tokens.start": result.sequences[:, :1],
        "tokens.greedy": result.sequences[:, 1:],
        "tokens.logits": logits,
        "margin.greedy": top[..., 0] - top[..., 1],
    }
