"""Inputs of bidirectional text encoders."""

import torch

from reference import text_inputs


def cases(directory, config, random, seed):
    """Main case (right padding), and a longer case without padding."""
    main_case, long_case, metadata = text_inputs.two_cases(directory, config, random, seed)
    return [with_token_types(case, config) for case in (main_case, long_case)], {}, metadata


def with_token_types(case, config):
    """Adds token types 0 and 1 (second half of each row) where the model has both."""
    if getattr(config, "type_vocab_size", 0) >= 2:
        mask = case["attention_mask"]
        second_half = (mask.cumsum(-1) > mask.sum(-1, keepdim=True) // 2) & (mask == 1)
        case["token_type_ids"] = second_half.to(torch.int64)
    return case
