"""Inputs of text encoders with a decoder."""

from reference import generation, text_inputs
from reference.decoder_inputs import with_decoder


def cases(directory, config, random, seed):
    """Main case (right padding), and a longer case without padding; models that do not generate have no separate decoder input."""
    main_case, long_case, metadata = text_inputs.two_cases(directory, config, random, seed)
    if config.architectures[0].endswith(("ForQuestionAnswering", "EncoderModel")):
        return [main_case, long_case], {}, metadata
    if "Classification" in config.architectures[0]:
        return [with_end(case, config) for case in (main_case, long_case)], {}, metadata
    limit = text_inputs.position_limit(config)
    rows = len(long_case["input_ids"])
    found = [with_decoder(main_case, config, random, limit, (9, 6)), with_decoder(long_case, config, random, limit, (34,) * rows)]
    return found, {}, metadata


def with_end(case, config):
    """Random ids that end with the end token and contain it nowhere else: classifiers with a decoder search for it."""
    ids, mask = case["input_ids"], case["attention_mask"]
    last = mask.sum(-1) - 1
    if not (ids.gather(1, last[:, None]) == config.eos_token_id).all():
        ids[ids == config.eos_token_id] = (config.eos_token_id + 1) % config.vocab_size
        ids.scatter_(1, last[:, None], config.eos_token_id)
    return case


def generated(model, config, _random, cases):
    """Greedy tokens from the encoder's input of the main case."""
    return generation.generate_from_source(model, config, cases[0]) if "decoder_input_ids" in cases[0] else {}
