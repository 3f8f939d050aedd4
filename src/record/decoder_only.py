"""Inputs of causal language models, with experts or with a state, too: part of the recorder `goldens.py`."""

import generation
import text_inputs

MODEL_TYPES = (
    "bloom",
    "falcon",
    "gemma2",
    "gpt2",
    "gpt_neox",
    "llama",
    "mamba",
    "mamba2",
    "mistral",
    "mixtral",
    "olmo2",
    "olmoe",
    "opt",
    "phi3",
    "qwen2",
    "qwen3",
    "qwen3_moe",
)


def cases(directory, config, random, seed):
    """Main case (right padding), a longer case without padding, and one with left padding."""
    main_case, long_case, metadata = text_inputs.two_cases(directory, config, random, seed)
    found = [main_case, long_case]
    if attention(config) == "eager":
        found.append(text_inputs.left_padded_case(config, random, text_inputs.position_limit(config)))
    return found, {}, metadata


def attention(config):
    """Eager attention, as for everything; but that of Falcon adds its linear biases twice, and only the usual one is right.

    In float16 the usual one does not make rows without any visible token uniform, so left padding is not recorded with it.
    """
    return "sdpa" if config.model_type == "falcon" and config.alibi else "eager"


def generated(model, config, random, _cases):
    """Greedy tokens of a random prompt."""
    return generation.generate(model, config, random)
