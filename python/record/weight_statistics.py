"""The mean and the standard deviation of trained-like weights.

Library initialisation (std 0.02, zero biases, norm weights of one) hides a wrong eps, a dropped bias or a wrong head mapping.
"""

import math

import torch

MATRIX_SCALE = 1.4
EMBEDDING_STD = 0.7
NORM_SPREAD = 0.25
BIAS_STD = 0.2


def statistics(owner, name, shape, embedding_std=EMBEDDING_STD, matrix_scale=MATRIX_SCALE):
    """Mean and standard deviation of a tensor of the state dict, by the kind of module that owns it (None if that is not known)."""
    kind, last = type(owner).__name__, name.rpartition(".")[2]
    if kind.startswith("Gemma") and "Norm" in kind:
        return 0, NORM_SPREAD
    if "Norm" in kind and last == "weight":
        return 1, NORM_SPREAD
    if last == "running_var":
        # At most 3.47 standard deviations from the mean, so that no variance is near zero.
        return 1, 0.14
    if last in ("running_mean", "final_logits_bias"):
        return 0, BIAS_STD
    if last == "A_log":
        return 1.1, 0.7
    if last == "dt_bias" or name.endswith("dt_proj.bias"):
        return -1.5, 0.7
    if last == "D":
        return 1, NORM_SPREAD
    if last == "lm_output_learned_bias" and owner.num_classes == 1:
        # A regression output near zero would have no meaningful relative error, so its bias moves it away from zero.
        return 3, BIAS_STD
    if last.endswith("bias"):
        return 0, BIAS_STD
    if last == "logit_scale":
        return 2.6, BIAS_STD
    if isinstance(owner, torch.nn.Embedding) or last.endswith(("token", "embeddings")):
        return 0, embedding_std
    return 0, matrix_scale / fan_in(kind, shape) ** 0.5


def fan_in(kind, shape):
    """The number of inputs of one output value. Conv1D of GPT-2 stores its matrix as [in, out], experts store theirs in one tensor."""
    if kind.endswith("Experts"):
        return shape[-1]
    return shape[0] if kind == "Conv1D" else math.prod(shape[1:])
