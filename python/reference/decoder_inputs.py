"""Decoder inputs of encoder-decoder models."""

import copy

from reference.text_inputs import padded_case


def with_decoder(case, config, random, limit, lengths):
    """Adds the decoder's inputs: its start token and random ids, padded on the right, with their mask."""
    decoder = padded_case(decoder_vocabulary(config), random, [min(length, limit) for length in lengths])
    decoder["input_ids"][:, 0] = start_id(config)
    return case | {f"decoder_{name}": value for name, value in decoder.items()}


def decoder_vocabulary(config):
    """A config whose `vocab_size` is that of the decoder: Marian may have two."""
    if getattr(config, "decoder_vocab_size", None) is None:
        return config
    config = copy.deepcopy(config)
    config.vocab_size = config.decoder_vocab_size
    return config


def start_id(config):
    """The first token of the decoder. T5 configs may omit it; it is the pad token then."""
    return next(i for i in (config.decoder_start_token_id, config.pad_token_id, 0) if i is not None)
