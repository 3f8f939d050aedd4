"""The operators of testgen as functions of PyTorch: part of the engine `torch`, and of the recorder of operators.

A function gets the tensors of a call and its other arguments by name (`Attributes` of testgen-operators). An operator that takes tensors
alone and has the name of PyTorch's function needs no line here.
"""

import json
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


def wide(x: torch.Tensor) -> torch.Tensor:
    """Indices as PyTorch takes them; other tensors as they are."""
    return x if x.is_floating_point() else x.long()


def window(a: dict) -> dict:
    """The arguments of a convolution or a pool that are given."""
    return {name: a[name] for name in ("stride", "padding", "dilation") if a[name]}


def reduction(name: str, x: torch.Tensor, dim: int | None) -> torch.Tensor:
    """A reduction of all elements, or over a dimension; extremes of a dimension come with their indices."""
    if dim is None:
        return getattr(torch, name)(x)
    result = getattr(torch, name)(x, dim)
    return result.values if name in ("max", "min") else result


def attention(t: list, a: dict, math: bool) -> torch.Tensor:
    """Attention, with keys and values of fewer heads repeated."""
    q, k, v = t[:3]
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    with sdpa_kernel([SDPBackend.MATH] if math else list(SDPBackend.__members__.values())):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=t[3] if len(t) > 3 else None, is_causal=a["causal"])


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """`apply_rotary_pos_emb` of transformers."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def adaptive(name: str, x: torch.Tensor, a: dict) -> torch.Tensor:
    """Adaptive pooling to the sizes of the attributes."""
    return getattr(F, name)(x, a["shape"] if len(a["shape"]) > 1 else a["shape"][0])


def pool(name: str, x: torch.Tensor, a: dict) -> torch.Tensor:
    """A pool; means have no dilation."""
    arguments = window(a)
    if name.startswith("avg"):
        arguments.pop("dilation", None)
        arguments["count_include_pad"] = a["count_include_pad"]
    return getattr(F, name)(x, a["kernel"], **arguments)


def convolution(name: str, t: list, a: dict) -> torch.Tensor:
    """A convolution with a bias, or the transposed one."""
    extra = {"output_padding": a["output_padding"]} if name == "conv_transpose2d" and a["output_padding"] else {}
    return getattr(F, name)(*t, groups=a["groups"], **window(a), **extra)


def batch_norm(t: list, eps: float) -> torch.Tensor:
    """Batch normalisation in evaluation; weight, bias, mean and variance follow x."""
    x, weight, bias, mean, variance = t
    return F.batch_norm(x, mean, variance, weight, bias, training=False, eps=eps)


def fused(name: str, t: list, a: dict) -> torch.Tensor:
    """A fused pattern as its parts."""
    if name == "matmul_bias_relu":
        return F.relu(t[0] @ t[1] + t[2])
    if name == "matmul_bias_gelu":
        return F.gelu(t[0] @ t[1] + t[2])
    if name == "conv_batch_norm_relu":
        return F.relu(batch_norm([F.conv2d(t[0], t[1], padding=a["padding"]), *t[2:]], a["eps"]))
    return F.relu(t[0] + t[1]) if name == "add_relu" else t[0] * t[1] + t[2]


# Operators of tensors alone whose function has another name in PyTorch, or takes other arguments.
RENAMED = {
    "div": lambda a, b: torch.div(a, b, rounding_mode="trunc") if not a.is_floating_point() else a / b,
    "max_binary": torch.max,
    "min_binary": torch.min,
    "batch_matmul": torch.bmm,
    "copy": torch.clone,
    "contiguous": lambda x: x.contiguous(),
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
    "embedding": lambda x, rows: F.embedding(wide(rows), x) if x.is_floating_point() else x[wide(rows)],
    "rope": rope,
    "weighted_sum": lambda weights, x: weights @ x,
}

WITH_ATTRIBUTES = {
    "gelu": lambda t, a: F.gelu(t[0], approximate="tanh" if a["tanh"] else "none"),
    "clamp": lambda t, a: torch.clamp(t[0], *(int(it) if not t[0].is_floating_point() else it for it in a["limits"])),
    "softmax": lambda t, a: F.softmax(t[0], a["dim"]),
    "log_softmax": lambda t, a: F.log_softmax(t[0], a["dim"]),
    "gemm": lambda t, a: torch.addmm(t[2], t[0], t[1], alpha=a["scales"][0], beta=a["scales"][1]),
    "transpose": lambda t, a: t[0].transpose(*a["axes"]),
    "layout_transform": lambda t, a: t[0].permute(a["axes"]),
    "reshape": lambda t, a: t[0].reshape(a["shape"]),
    # PyTorch refuses a view of most strides, as it documents.
    "view": lambda t, a: t[0].view(a["shape"]) if t[0].is_contiguous() else t[0].reshape(a["shape"]),
    "squeeze": lambda t, a: t[0].squeeze(a["dim"]),
    "unsqueeze": lambda t, a: t[0].unsqueeze(a["dim"]),
    "broadcast": lambda t, a: torch.broadcast_to(t[0], a["shape"]),
    "concat": lambda t, a: torch.cat(t, a["dim"]),
    "stack": lambda t, a: torch.stack(t, a["dim"]),
    "slice": lambda t, a: t[0][(slice(None),) * a["dim"] + (slice(*a["range"]),)],
    "gather": lambda t, a: torch.gather(t[0], a["dim"], wide(t[1])),
    "batch_norm": lambda t, a: batch_norm(t, a["eps"]),
    "layer_norm": lambda t, a: F.layer_norm(t[0], t[1].shape, t[1], t[2], a["eps"]),
    "group_norm": lambda t, a: F.group_norm(t[0], a["groups"], t[1], t[2], a["eps"]),
    "instance_norm": lambda t, a: F.instance_norm(t[0], weight=t[1], bias=t[2], eps=a["eps"]),
    "rms_norm": lambda t, a: F.rms_norm(t[0], t[1].shape, t[1], a["eps"]),
}

LOSSES = {
    "bce_loss": F.binary_cross_entropy,
    "bce_with_logits_loss": F.binary_cross_entropy_with_logits,
    "cross_entropy_loss": F.cross_entropy,
    # The mean over all elements, which a later version will call by another name.
    "kl_div_loss": F.kl_div,
    "l1_loss": F.l1_loss,
    "mse_loss": F.mse_loss,
    "nll_loss": F.nll_loss,
    "smooth_l1_loss": F.smooth_l1_loss,
}

FUSED = ("matmul_bias_relu", "matmul_bias_gelu", "conv_batch_norm_relu", "add_relu", "mul_add")
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "conv_transpose2d")
REDUCTIONS = ("sum", "mean", "max", "min", "prod")
POOLS = (
    *(f"{kind}_pool{dimensions}d" for kind in ("max", "avg") for dimensions in (1, 2, 3)),
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
)


# The names of testgen's operators, written by `UPDATE_DOCS=1 cargo test -p testgen --test cli current`.
DECLARED = json.loads((Path(__file__).parent / "operators.json").read_text(encoding="utf-8"))


def names() -> list[str]:
    """The names of all operators that have a function."""
    apart = {"scaled_dot_product_attention", *RENAMED, *WITH_ATTRIBUTES, *CONVOLUTIONS, *REDUCTIONS, *POOLS, *LOSSES, *FUSED}
    return [name for name in DECLARED if name in apart or same_name(name)]


def same_name(name: str) -> Callable | None:
    """PyTorch's function of this name."""
    return getattr(torch, name, None) or getattr(F, name, None)


def function(name: str, a: dict, *, math: bool) -> Callable[[list[torch.Tensor]], torch.Tensor]:
    """The function of a call's tensors; `math` computes attention of its parts in place of a fused kernel.

    What depends on the operator alone is looked up once, and not in every call that is timed.
    """
    if named := RENAMED.get(name):
        return lambda t: named(*t)
    if name == "scaled_dot_product_attention":
        return lambda t: attention(t, a, math)
    if found := WITH_ATTRIBUTES.get(name):
        return lambda t: found(t, a)
    if name in REDUCTIONS:
        return lambda t: reduction(name, t[0], a["dim"])
    if name in POOLS:
        pooled = adaptive if name.startswith("adaptive") else pool
        return lambda t: pooled(name, t[0], a)
    if loss := LOSSES.get(name):
        return lambda t: loss(t[0], wide(t[1]), reduction=a["reduction"])
    if name in FUSED:
        return lambda t: fused(name, t, a)
    if name in CONVOLUTIONS:
        return lambda t: convolution(name, t, a)
    same = same_name(name)
    return lambda t: same(*t)
