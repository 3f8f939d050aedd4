"""Answers about images and audio, from the golden's main case, which the checkpoint's processor computed: part of `answers.py`."""

import os
from types import SimpleNamespace

import torch
import transformers

from record.answer_subject import Answered, Forward, NotServed, at_least_float32, number, vector
from record.label_scores import label_scores
from reference.families.object_detection import load_processor
from reference.families.vision_text import scored_alone

# Detections with a lower score than a handler returns are recorded as well: in 16 bits one may be above its limit.
LEAST_SCORE = 0.25


def ranked_labels(names, scores):
    """Labels with their scores, best first; the first of equals first. Series may have more targets than names of labels."""
    order = scores.argsort(descending=True, stable=True)
    return [{"label": names.get(int(index), f"LABEL_{index}"), "score": number(scores[index])} for index in order]


def classified(subject, request, source):
    """The labels of every row of the main case."""
    case, names = subject.inputs(), subject.model.config.id2label
    runs = Forward([case], lambda _, result: {"scores": label_scores(subject.config, result["logits"])})
    scores = runs.of(subject.model)[0]["scores"].reshape(-1, len(names))
    return Answered(request, {"labels": [ranked_labels(names, row) for row in scores]}, source, runs)


def image_classification(subject):
    """Every label with its probability, best first."""
    return classified(subject, {"images": subject.names("image")}, "the image processor and the scores of ImageClassificationPipeline")


def video_classification(subject):
    """Every label with its probability, best first. The golden has the frames of all videos, one video after another."""
    names, count = subject.names("image"), subject.inputs()["pixel_values"].shape[1]
    videos = [names[first : first + count] for first in range(0, len(names), count)]
    return classified(subject, {"videos": videos}, "the image processor and the scores of VideoClassificationPipeline")


def audio_classification(subject):
    """Every label with its probability, best first. Rows are padded to one length, as the feature extractor does for a batch."""
    return classified(subject, recordings(subject), "the feature extractor and the scores of AudioClassificationPipeline")


def recordings(subject):
    """The golden's audio as a request."""
    names = subject.names("audio")
    extractor = transformers.AutoFeatureExtractor.from_pretrained(subject.directory)
    return {"recordings": {"tensors": names, "sampling_rate": extractor.sampling_rate}, "controls": {}}


def embedded(subject, request, numbers, source):
    """The vectors of every row of the main case; `numbers` computes them from the results."""
    runs = Forward([subject.inputs()], lambda _, result: numbers(result))
    with torch.no_grad():
        found = numbers(subject.model(**subject.inputs()))
    rows = len(next(iter(found.values())))
    vectors = [{name: vector(value[row]) for name, value in found.items()} for row in range(rows)]
    return Answered(request, {"vectors": vectors}, source, runs)


def audio_embedding(subject):
    """The vectors of the frames and their mean."""

    def numbers(result):
        return {"frames": result["last_hidden_state"], "mean": result["last_hidden_state"].mean(1)}

    return embedded(subject, recordings(subject), numbers, "the feature extractor and `last_hidden_state`")


def image_embedding(subject):
    """The vectors of the patches, and the pooler's or their mean."""

    def numbers(result):
        patches, pooler = result["last_hidden_state"], result.get("pooler_output")
        mean = patches.mean(1) if patches.dim() == 3 else patches.mean((2, 3))
        return {"patches": patches, "pooled": (mean if pooler is None else pooler).flatten(1)}

    return embedded(
        subject, {"images": subject.names("image")}, numbers, "the image processor and ImageFeatureExtractionPipeline's outputs"
    )


def object_detection(subject):
    """The queries with the best scores, best first, with corners in pixels."""
    names = subject.names("image")
    processor, _ = load_processor(subject.directory)
    sizes = [tuple(subject.golden[name].shape[:2]) for name in names]

    def found(result):
        result = {name: at_least_float32(result[name]) for name in ("logits", "pred_boxes")}
        return processor.post_process_object_detection(SimpleNamespace(**result), threshold=-1.0, target_sizes=sizes)

    with torch.no_grad():
        images = found(subject.model(**subject.inputs()))
    kept = [
        [int(query) for query in each["scores"].argsort(descending=True, stable=True) if each["scores"][query] > LEAST_SCORE]
        for each in images
    ]
    if not any(kept):
        raise NotServed(f"no detection has a score above {LEAST_SCORE}")

    def numbers(_index, result):
        pairs = [(each, queries) for each, queries in zip(found(result), kept, strict=True)]
        corners = torch.cat([each["boxes"][queries] for each, queries in pairs])
        return {"scores": torch.cat([each["scores"][queries] for each, queries in pairs]), "corners": corners}

    label = subject.model.config.id2label
    detections = [
        [
            {
                "label": label[int(each["labels"][query])],
                "score": number(each["scores"][query]),
                "corners": vector(each["boxes"][query])["values"],
            }
            for query in queries
        ]
        for each, queries in zip(images, kept, strict=True)
    ]
    source = f"{type(processor).__name__}.post_process_object_detection"
    return Answered({"images": names}, {"detections": detections}, source, Forward([subject.inputs()], numbers))


def paired(subject):
    """The request of images with texts."""
    if not any(os.path.exists(os.path.join(subject.directory, name)) for name in ("tokenizer.json", "vocab.json")):
        raise NotServed("the checkpoint has no tokenizer")
    return {"images": subject.names("image"), "texts": subject.texts}


def image_text_similarity(subject):
    """For each image every text with its score, best first."""
    request = paired(subject)

    def scores(result):
        logits = at_least_float32(result["logits_per_image"])
        return logits.sigmoid() if scored_alone(subject.config) else logits.softmax(-1)

    with torch.no_grad():
        rows = scores(subject.model(**subject.inputs()))
    runs = Forward([subject.inputs()], lambda _, result: {"scores": scores(result)})
    answer = {"labels": [ranked_labels(dict(enumerate(subject.texts)), row) for row in rows]}
    return Answered(request, answer, "the processors and the scores of ZeroShotImageClassificationPipeline", runs)


def image_text_embedding(subject):
    """The vectors of the images and of the texts in their common space."""
    request = paired(subject)

    def numbers(result):
        return {"images": result["image_embeds"], "texts": result["text_embeds"]}

    with torch.no_grad():
        found = numbers(subject.model(**subject.inputs()))
    answer = {"vectors": [{name: vector(value) for name, value in found.items()}]}
    return Answered(
        request, answer, "`image_embeds` and `text_embeds` of the class", Forward([subject.inputs()], lambda _, result: numbers(result))
    )
