"""Answers with a number or a label for each pixel of an image, or for some, from the golden's main case: part of `answers.py`."""

from types import SimpleNamespace

import torch

from record.answer_subject import Answered, Forward, NotServed, at_least_float32, number, vector
from reference.families.object_detection import load_processor


def processor_and_sizes(subject, method):
    """The checkpoint's processor, which must have the method, and the height and width of each image."""
    sizes = [tuple(subject.golden[name].shape[:2]) for name in subject.names("image")]
    processor, _ = load_processor(subject.directory)
    if not hasattr(processor, method):
        raise NotServed(f"{type(processor).__name__} has no `{method}`")
    return processor, sizes


def depth_estimation(subject):
    """The depth of each pixel."""
    method = "post_process_depth_estimation"
    processor, sizes = processor_and_sizes(subject, method)

    def depths(result):
        outputs = SimpleNamespace(predicted_depth=at_least_float32(result["predicted_depth"]))
        return [each["predicted_depth"] for each in getattr(processor, method)(outputs, sizes)]

    with torch.no_grad():
        found = depths(subject.model(**subject.inputs()))
    runs = Forward([subject.inputs()], lambda _, result: {"depth": torch.cat([each.flatten() for each in depths(result)])})
    answer = {"vectors": [{"depth": vector(each)} for each in found]}
    return Answered({"images": subject.names("image")}, answer, f"{type(processor).__name__}.{method}", runs)


def image_segmentation(subject):
    """The label of each pixel, with the gap between its two largest scores."""
    method = "post_process_semantic_segmentation"
    processor, sizes = processor_and_sizes(subject, method)

    def scores(result):
        if "masks_queries_logits" in result:
            outputs = SimpleNamespace(**{name: at_least_float32(result[name]) for name in ("class_queries_logits", "masks_queries_logits")})
            found = getattr(processor, method)(outputs, sizes, return_segmentation_scores=True)
            return [each["segmentation_scores"] for each in found]
        logits = at_least_float32(result["logits"])
        options = {"mode": "bilinear", "align_corners": False}
        return [torch.nn.functional.interpolate(row[None], size=size, **options)[0] for row, size in zip(logits, sizes, strict=True)]

    with torch.no_grad():
        result = subject.model(**subject.inputs())
    maps = getattr(processor, method)(SimpleNamespace(**result), sizes)
    images = [segments(subject.config.id2label, *one) for one in zip(maps, scores(result), strict=True)]
    runs = Forward([subject.inputs()], lambda _, result: {"scores": torch.cat([each.flatten() for each in scores(result)])})
    return Answered({"images": subject.names("image")}, {"segments": images}, f"{type(processor).__name__}.{method}", runs)


def segments(names, found, scores):
    """The labels of one image: `found` [height, width] has their numbers, `scores` [labels, height, width] decided them."""
    best = scores.topk(2, dim=0).values
    labels, places = found.unique(return_inverse=True)
    return {
        "size": list(found.shape),
        "labels": [names[int(label)] for label in labels],
        "map": places.flatten().tolist(),
        # Three digits, because there is one for each pixel.
        "margins": [float(f"{margin:.3g}") for margin in (best[0] - best[1]).flatten().tolist()],
        "largest": number(scores.abs().max()),
    }


def keypoint_detection(subject):
    """The points of each image, in pixels, with their scores and descriptors."""
    method = "post_process_keypoint_detection"
    processor, sizes = processor_and_sizes(subject, method)

    def points(result):
        # The results of padding are zeros, and have no mask here.
        outputs = SimpleNamespace(**result, mask=result["scores"] > 0)
        return [{name: value.float() for name, value in each.items()} for each in getattr(processor, method)(outputs, sizes)]

    with torch.no_grad():
        found = points({name: value for name, value in subject.model(**subject.inputs()).items() if name != "mask"})
    if not any(len(each["scores"]) for each in found):
        raise NotServed("no image has a point")
    names = {"keypoints": "points", "scores": "scores", "descriptors": "descriptors"}
    answer = {"vectors": [{names[name]: vector(value) for name, value in each.items()} for each in found]}

    def numbers(_index, result):
        return {names[name]: torch.cat([each[name].flatten() for each in points(result)]) for name in names}

    runs = Forward([subject.inputs()], numbers)
    return Answered({"images": subject.names("image")}, answer, f"{type(processor).__name__}.{method}", runs)
