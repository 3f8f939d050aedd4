"""The scores of labels: part of the recorder `answers.py`."""

from record.answer_subject import at_least_float32


def label_scores(config, logits):
    """The scores of labels [..., labels], by the function that the pipelines for texts, images, audio and videos choose."""
    logits = at_least_float32(logits)
    # The outputs are the predicted numbers themselves.
    if config.problem_type == "regression":
        return logits
    # Labels that do not exclude each other. A softmax over a single label is always 1.
    if config.problem_type == "multi_label_classification" or logits.shape[-1] == 1:
        return logits.sigmoid()
    return logits.softmax(-1)
