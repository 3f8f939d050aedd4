"""Answers about the words of a page: part of the recorder `answers.py`."""

import torch

from record.answer_subject import Answered, Forward, NotServed, at_least_float32, number
from record.answer_text import CANDIDATES, LONGEST_ANSWER, pipe

# Longer pages are read in several windows, which handlers do not do.
LONGEST = 512
# The words of a line of the page.
WORDS = 3


def document_question_answering(subject):
    """The likeliest words of each page."""
    if subject.config.model_type != "layoutlm":
        raise NotServed("its class takes the image of the page under another name than DocumentQuestionAnsweringPipeline passes it")
    first, second = subject.texts[:2]
    requests = [
        {"question": question, "words": placed([*text.split(), *question.split()], index)}
        for index, (question, text) in enumerate([(second, first), (first, second)])
    ]
    find = pipe(subject, "document-question-answering")
    limit = min(LONGEST, subject.tokenizer.model_max_length)
    inputs = [
        {"question": each["question"], "word_boxes": [(word["text"], word["corners"]) for word in each["words"]]} for each in requests
    ]
    found = [find(one, top_k=CANDIDATES, max_seq_len=limit) for one in inputs]
    read = [next(iter(find.preprocess(one, max_seq_len=limit))) for one in inputs]
    cases = [{name: value for name, value in one.items() if isinstance(value, torch.Tensor)} for one in read]

    def numbers(index, result):
        scores = word_scores(result, read[index])
        return {"scores": torch.stack([scores[one["start"], one["end"]] for one in found[index]])}

    answers = [
        [{"text": one["answer"], "score": number(one["score"]), "start": one["start"], "end": one["end"] + 1} for one in row]
        for row in found
    ]
    return Answered({"documents": requests}, {"spans": answers}, "DocumentQuestionAnsweringPipeline", Forward(cases, numbers))


def placed(words, shift):
    """The words with their places, line by line; each page has other places."""
    places = [(100 + 250 * (index % WORDS) + 40 * shift, 50 + 90 * (index // WORDS)) for index in range(len(words))]
    pairs = zip(words, places, strict=True)
    return [{"text": word, "corners": [left, top, left + 30 * len(word), top + 60]} for word, (left, top) in pairs]


def word_scores(result, read):
    """The probability of the likeliest span of tokens from a word to a word."""
    possible = [index for index, hidden in enumerate(read["p_mask"]) if not hidden]
    words = read["word_ids"]
    starts, ends = (at_least_float32(result[name][0, possible]).softmax(-1) for name in ("start_logits", "end_logits"))
    scores = starts[:, None] * ends[None, :]
    found = {}
    for first, start in enumerate(possible):
        for last, end in enumerate(possible[first : first + LONGEST_ANSWER], first):
            if words[start] is not None and words[end] is not None:
                place = words[start], words[end]
                found[place] = max(found.get(place, scores[first, last]), scores[first, last])
    return found
