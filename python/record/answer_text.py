"""Answers about texts: part of the recorder `answers.py`."""

import inspect

import torch
from transformers import pipeline

from record.answer_subject import Answered, Forward, NotServed, at_least_float32, number, vector
from record.label_scores import label_scores

# More candidates than a handler returns, so that one that is as likely as the last is recorded, too.
CANDIDATES = 10
# As `QuestionAnsweringPipeline` of transformers 4 has it.
LONGEST_ANSWER = 15


def encoded(subject, *texts):
    """The tensors of one text, or of a pair, that the model's class takes."""
    inputs = subject.tokenizer(*texts, return_tensors="pt")
    taken = inspect.signature(subject.model.forward).parameters
    return {name: value for name, value in inputs.items() if name in taken}


def pipe(subject, task, **options):
    """A pipeline of the model in float32 on the host; without a device it would move the model to a GPU that torch has."""
    return pipeline(task, model=subject.model, tokenizer=subject.tokenizer, device="cpu", **options)


def text_embedding(subject):
    """The vectors of the tokens, their mean, and the pooler's."""
    cases = [encoded(subject, text) for text in subject.texts]
    extract = pipe(subject, "feature-extraction")
    texts = []
    for text, case in zip(subject.texts, cases, strict=True):
        tokens = torch.tensor(extract(text)[0])
        texts.append({"tokens": tokens, "mean": tokens.double().mean(0)} | pooled(subject.model(**case)))

    def numbers(_, result):
        return {"tokens": result["last_hidden_state"], "mean": result["last_hidden_state"].mean(1)} | pooled(result)

    answer = {"vectors": [{name: vector(value) for name, value in text.items()} for text in texts]}
    return Answered({"texts": subject.texts}, answer, "FeatureExtractionPipeline", Forward(cases, numbers))


def pooled(result):
    """The output of the pooler where the class has one."""
    return {"pooled": result["pooler_output"][0]} if result.get("pooler_output") is not None else {}


def text_classification(subject):
    """Every label with its probability, best first."""
    cases = [encoded(subject, text) for text in subject.texts]
    classify = pipe(subject, "text-classification", top_k=None)
    answer = {"labels": [labels_of(found) for found in classify(subject.texts)]}
    runs = Forward(cases, lambda _, result: {"scores": label_scores(subject.config, result["logits"])})
    return Answered({"texts": subject.texts}, answer, "TextClassificationPipeline", runs)


def labels_of(found):
    """A pipeline's labels."""
    return [{"label": each["label"], "score": number(each["score"])} for each in found]


def fill_mask(subject):
    """The likeliest tokens for the mask token of each text."""
    tokenizer = subject.tokenizer
    if tokenizer.mask_token is None:
        raise NotServed("the tokenizer has no mask token")
    texts = [with_mask(text, tokenizer.mask_token) for text in subject.texts]
    fill = pipe(subject, "fill-mask", top_k=CANDIDATES)
    found = [fill(text) for text in texts]
    cases = [encoded(subject, text) for text in texts]

    def numbers(index, result):
        place = (cases[index]["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0]
        logits = at_least_float32(result["logits"][0, place])
        return {"scores": logits.softmax(-1)[[each["token"] for each in found[index]]]}

    filled = [
        [[{"id": each["token"], "text": tokenizer.decode([each["token"]]), "score": number(each["score"])} for each in row]]
        for row in found
    ]
    return Answered({"texts": texts}, {"filled": filled}, "FillMaskPipeline", Forward(cases, numbers))


def with_mask(text, mask):
    """The text with a mask token in place of its last word."""
    return " ".join([*text.split(" ")[:-1], mask])


def token_classification(subject):
    """For every token its place in the text, in bytes, and all labels, best first."""
    names = subject.model.config.id2label
    cases = [encoded(subject, text) for text in subject.texts]
    texts = []
    for text, case in zip(subject.texts, cases, strict=True):
        spans = subject.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        scores = token_scores(subject.model(**case)["logits"][0])
        tokens = []
        for (start, end), special, row in zip(spans["offset_mapping"], spans["special_tokens_mask"], scores, strict=True):
            if not special:
                order = row.argsort(descending=True, stable=True)
                labels = [{"label": names[int(label)], "score": number(row[label])} for label in order]
                tokens.append({"start": len(text[:start].encode()), "end": len(text[:end].encode()), "labels": labels})
        texts.append(tokens)

    def numbers(_, result):
        return {"scores": token_scores(result["logits"][0])}

    source = "the tokenizer and the softmax of TokenClassificationPipeline"
    return Answered({"texts": subject.texts}, {"token_labels": texts}, source, Forward(cases, numbers))


def token_scores(logits):
    """The probabilities of the labels [tokens, labels]; a single logit per token is that of the second of two labels."""
    logits = at_least_float32(logits)
    if logits.dim() == 1:
        logits = torch.stack([torch.zeros_like(logits), logits], -1)
    return logits.softmax(-1)


def multiple_choice(subject):
    """Every choice with its probability, best first. transformers has no pipeline for the task."""
    first, second = subject.texts[:2]
    requests = [{"prompt": first, "choices": [second, first, f"{second} {first}"]}, {"prompt": second, "choices": [first, "no", second]}]
    rows = [(each["prompt"], choice) for each in requests for choice in each["choices"]]
    taken = inspect.signature(subject.model.forward).parameters
    found = subject.tokenizer([row[0] for row in rows], [row[1] for row in rows], padding=True, padding_side="right", return_tensors="pt")
    case = {name: value.unflatten(0, (len(requests), -1)) for name, value in found.items() if name in taken}
    runs = Forward([case], lambda _, result: {"scores": at_least_float32(result["logits"]).softmax(-1)})
    scores = runs.of(subject.model)[0]["scores"].reshape(len(requests), -1)
    labels = [
        [{"label": each["choices"][int(choice)], "score": number(row[choice])} for choice in row.argsort(descending=True, stable=True)]
        for each, row in zip(requests, scores, strict=True)
    ]
    source = "the tokenizer and a softmax over the logits of the choices"
    return Answered({"choices": requests}, {"labels": labels}, source, runs)


def text_to_speech(subject):
    """The sound of each text, computed alone as `TextToAudioPipeline` does: the sound of a padded text has more samples."""
    if subject.config.noise_scale or subject.config.noise_scale_duration:
        raise NotServed("the class draws random numbers; `noise_scale` and `noise_scale_duration` of config.json must be 0")
    cases = [dict(subject.tokenizer([text], return_tensors="pt")) for text in subject.texts]
    runs = Forward(cases, lambda _, result: {"waveform": result["waveform"]})
    with torch.no_grad():
        sounds = [subject.model(**case)["waveform"][0] for case in cases]
    rate = torch.tensor([float(subject.config.sampling_rate)])
    answer = {"vectors": [{"waveform": vector(sound), "sampling_rate": vector(rate)} for sound in sounds]}
    return Answered({"texts": subject.texts}, answer, "the tokenizer and `waveform` of the class", runs)


def question_answering(subject):
    """The likeliest spans of each context, as `QuestionAnsweringPipeline` of transformers 4 finds them; transformers 5 has no such
    pipeline."""
    first, second = subject.texts[:2]
    pairs = [(second, first), (first, second)]
    cases = [encoded(subject, *pair) for pair in pairs]
    spans = [subject.tokenizer(*pair, return_offsets_mapping=True) for pair in pairs]
    places = [[index for index, part in enumerate(each.sequence_ids(0)) if part == 1] for each in spans]
    found = []
    for case, tokens in zip(cases, places, strict=True):
        scores = span_scores(subject.model(**case), tokens)
        best = scores.flatten().argsort(descending=True, stable=True)[:CANDIDATES]
        best = [(int(index) // len(tokens), int(index) % len(tokens)) for index in best if scores.flatten()[index] > 0]
        found.append([(start, end, scores[start, end]) for start, end in best])

    def numbers(index, result):
        scores = span_scores(result, places[index])
        return {"scores": torch.stack([scores[start, end] for start, end, _ in found[index]])}

    answers = []
    for (_, context), span, tokens, rows in zip(pairs, spans, places, found, strict=True):
        answers.append([])
        for start, end, score in rows:
            begin, finish = span["offset_mapping"][tokens[start]][0], span["offset_mapping"][tokens[end]][1]
            place = {"start": len(context[:begin].encode()), "end": len(context[:finish].encode())}
            answers[-1].append({"text": context[begin:finish], "score": number(score)} | place)
    request = {"questions": [{"question": question, "context": context} for question, context in pairs]}
    return Answered(request, {"spans": answers}, "the method of QuestionAnsweringPipeline, with the model", Forward(cases, numbers))


def span_scores(result, tokens):
    """The product of the probabilities of start and end among a context's tokens, [tokens, tokens]; 0 for spans that are not allowed."""
    starts, ends = (at_least_float32(result[name][0, tokens]).softmax(-1) for name in ("start_logits", "end_logits"))
    return (starts[:, None] * ends[None, :]).triu().tril(LONGEST_ANSWER - 1)
