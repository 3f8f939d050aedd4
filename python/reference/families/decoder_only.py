"""Inputs of causal language models, including those with experts or a state."""

from reference import generation, text_inputs


def cases(directory, config, random, seed):
    """Main case (right padding), a longer case without padding, and one with left padding."""
    main_case, long_case, metadata = text_inputs.two_cases(directory, config, random, seed)
    found = [main_case, long_case]
    if attention(config) == "eager":
        found.append(text_inputs.left_padded_case(config, random, text_inputs.position_limit(config)))
    return found, {}, metadata


def attention(config):
    """Eager attention, except for Falcon with linear biases, whose eager code adds them twice: `sdpa` is correct there.

    In float16 `sdpa` does not make rows without any visible token uniform, so left padding is not recorded with it.
    """
    return "sdpa" if getattr(config, "alibi", False) else "eager"


def generated(model, config, random, _cases):
    """Greedy tokens of a random prompt."""
    return generation.generate(model, config, random)
