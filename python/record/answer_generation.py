"""Generated tokens and transcripts: part of the recorder `answers.py`.

Tokens are greedy. Each has a margin: the gap between the two largest scores, relative to the largest logit of the answer, so that it
compares with the noise of the logits. A check must not compare beyond a token whose margin is below that noise.
"""

import json

import torch
from transformers import AutoTokenizer, GenerationMixin, Wav2Vec2CTCTokenizer

from record.answer_media import recordings
from record.answer_subject import Answered, Forward, NotServed, at_least_float32, number
from record.answer_text import pipe
from record.plain_texts import NEW_TOKENS
from reference.families.multimodal import image_tokens
from reference.results import run

CONTROLS = {"max_new_tokens": NEW_TOKENS, "do_sample": False, "num_beams": 1}


class Rows:
    """Prompts that are continued one by one."""

    def __init__(self, subject, prompts, grown, use_cache=True):
        """`grown` is the name of the ids that the new tokens are appended to."""
        self.prompts, self.grown, self.tokens, self.gaps = prompts, grown, [], []
        for prompt in prompts:
            # Whisper's own `generate` splits audio into segments.
            result = GenerationMixin.generate(
                subject.model, **prompt, **CONTROLS, use_cache=use_cache, return_dict_in_generate=True, output_scores=True
            )
            tokens = result.sequences[0, prompt[grown].shape[1] :]
            top = torch.stack(result.scores, 1)[0].float().topk(2).values
            self.tokens.append(tokens)
            self.gaps.append((top[:, 0] - top[:, 1])[: len(tokens)])
        self.logits = self.of(subject.model)[0]["tokens"]

    def of(self, model):
        """The logits of every new token, all tokens before it given."""
        rows = []
        for prompt, tokens in zip(self.prompts, self.tokens, strict=True):
            ids = torch.cat([prompt[self.grown], tokens[None, :-1]], 1)
            case = {name: value for name, value in prompt.items() if name != "attention_mask" or self.grown != "input_ids"}
            rows.append(run(model, case | {self.grown: ids}, trace=False)["logits"][0, prompt[self.grown].shape[1] - 1 :])
        return [{"tokens": torch.cat([row.flatten() for row in rows])}]

    def answers(self, texts):
        """The new tokens of each row with their margins and the text."""
        largest = float(self.logits.abs().max())
        rows = zip(texts, self.tokens, self.gaps, strict=True)
        return [{"text": text, "ids": tokens.tolist(), "margins": margins(gaps, largest)} for text, tokens, gaps in rows]


def margins(gaps, largest):
    """Gaps relative to the largest logit; a token without an alternative has a margin of 1."""
    return [1.0 if torch.isinf(gap) else float(f"{float(gap) / largest:.3g}") for gap in gaps]


def controls():
    """The controls of a request that generates."""
    return {"controls": CONTROLS}


def text_generation(subject):
    """The texts continued; prompts are read without padding. Models with a state have one prompt: in transformers, padding before a
    shorter prompt changes its continuation."""
    write = pipe(subject, "text-generation")
    texts = subject.texts[:1] if subject.architecture == "ssm" else subject.texts
    prompts = [{"input_ids": torch.tensor([subject.tokenizer(text)["input_ids"]])} for text in texts]
    prompts = [prompt | {"attention_mask": torch.ones_like(prompt["input_ids"])} for prompt in prompts]
    rows = Rows(subject, prompts, "input_ids")
    written = [write(text, **CONTROLS, return_full_text=False)[0]["generated_text"] for text in texts]
    return Answered({"prompts": texts} | controls(), {"generated": rows.answers(written)}, "TextGenerationPipeline", rows)


def decoder_start(subject, count=1):
    """The first token of the decoder."""
    start = subject.model.generation_config.decoder_start_token_id
    if start is None:
        start = subject.model.config.decoder_start_token_id
    return {"decoder_input_ids": torch.full((count, 1), start)}


def text2text_generation(subject):
    """The texts that the decoder writes. The cache of transformers has the layers of the encoder, and a decoder may be deeper."""
    tokenizer = subject.tokenizer
    taken = ("input_ids", "attention_mask")
    prompts = [{name: value for name, value in tokenizer(text, return_tensors="pt").items() if name in taken} for text in subject.texts]
    rows = Rows(subject, [prompt | decoder_start(subject) for prompt in prompts], "decoder_input_ids", use_cache=False)
    texts = tokenizer.batch_decode(rows.tokens, skip_special_tokens=True)
    return Answered({"prompts": subject.texts} | controls(), {"generated": rows.answers(texts)}, "`generate` and the tokenizer", rows)


def image_text_to_text(subject):
    """The prompts continued; the token of an image is repeated for each of its patches, as the processor does."""
    images, tokenizer, config = subject.names("image"), subject.tokenizer, subject.config
    token, pixels = tokenizer.convert_ids_to_tokens(config.image_token_index), subject.inputs()["pixel_values"]
    count = image_tokens(config)
    texts = [text.replace(token * count, token) for text in subject.texts]
    prompts = [
        {"input_ids": torch.tensor([tokenizer(text.replace(token, token * count))["input_ids"]]), "pixel_values": pixels[row : row + 1]}
        for row, text in enumerate(texts)
    ]
    rows = Rows(subject, prompts, "input_ids")
    answer = {"generated": rows.answers(tokenizer.batch_decode(rows.tokens, skip_special_tokens=True))}
    return Answered({"prompts": texts, "images": images} | controls(), answer, "`generate` and the tokenizer", rows)


def speech_recognition(subject):
    """The tokens that a decoder writes, or the likeliest token of every frame."""
    request = recordings(subject)
    return written(subject, request) if subject.model.can_generate() else read_off(subject, request)


def written(subject, request):
    """The tokens that the decoder writes for each recording, after its start token."""
    features = subject.inputs()["input_features"]
    prompts = [{"input_features": row[None]} | decoder_start(subject) for row in features]
    rows = Rows(subject, prompts, "decoder_input_ids", use_cache=False)
    texts = subject.tokenizer.batch_decode(rows.tokens, skip_special_tokens=True)
    return Answered(request | controls(), {"transcripts": rows.answers(texts)}, "`generate` and the tokenizer", rows)


def read_off(subject, request):
    """The likeliest tokens of the frames, and the text that the tokenizer decodes them to."""
    try:
        tokenizer = Wav2Vec2CTCTokenizer.from_pretrained(subject.directory)
    except (OSError, TypeError) as missing:
        raise NotServed("the checkpoint has no vocabulary of frames") from missing
    case = {name: value for name, value in subject.inputs().items() if name in ("input_values", "attention_mask")}
    with torch.no_grad():
        logits = subject.model(**case).logits
    top = logits.topk(2).values
    largest, texts = float(logits.abs().max()), tokenizer.batch_decode(logits.argmax(-1))
    rows = zip(texts, logits.argmax(-1), top[..., 0] - top[..., 1], strict=True)
    frames = [{"text": text, "ids": ids.tolist(), "margins": margins(gaps, largest)} for text, ids, gaps in rows]
    runs = Forward([case], lambda _, result: {"tokens": at_least_float32(result["logits"])})
    return Answered(request, {"frames": frames}, "`logits` and Wav2Vec2CTCTokenizer", runs)


def retrieval_augmented_generation(subject):
    """The answers and the passages of the golden, which `generate` and the retriever computed for the main case."""
    golden, generator = subject.golden, subject.config.generator
    tokenizer = AutoTokenizer.from_pretrained(f"{subject.directory}/generator_tokenizer")
    noise = {name: json.loads(subject.metadata[f"noise.{name}"]) for name in ("f32", "f16", "bf16") if f"noise.{name}" in subject.metadata}
    largest = float(golden["output.logits"].float().abs().max())
    answers = []
    for row, margin in enumerate(golden["margin.answer"].flatten()):
        ids = golden["tokens.answer"][row].tolist()
        ids = ids[: ids.index(generator.eos_token_id) + 1] if generator.eos_token_id in ids else ids
        scores = golden["output.doc_scores"][row].float()
        passages = zip(golden["retrieval.retrieved_doc_ids"][row], scores, scores.softmax(-1), strict=True)
        answers.append(
            {
                "text": tokenizer.decode(ids, skip_special_tokens=True),
                "ids": ids,
                # The closest choice on the way to the answer.
                "margins": margins([margin] * len(ids), largest),
                "passages": [{"id": int(index), "score": number(score), "probability": number(share)} for index, score, share in passages],
            }
        )
    request = {"prompts": subject.texts, "controls": {"max_new_tokens": golden["tokens.answer"].shape[1]}}
    noise = {name: {"tokens": levels["logits"], "scores": levels["doc_scores"]} for name, levels in noise.items()}
    noise["reference"] = subject.metadata["noise.reference"]
    return Answered(request, {"retrieved": answers}, "`generate` and RagRetriever", noise=noise)
