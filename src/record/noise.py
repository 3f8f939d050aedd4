"""The error of the reference itself, in each compute type: part of the recorder `goldens.py`."""

import json
from dataclasses import dataclass
from typing import Optional

import numpy
import torch
from families import FAMILIES, kind
from reference import load, read_config
from results import run, run_all
from torch.overrides import TorchFunctionMode

PRECISIONS = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def noise_of(model, directory, cases, results, steps=None, draws=1):
    """Metadata `noise.*`: the reference's own error in each compute type, the largest over the cases and over `draws` of it.

    `results` are those of the cases with `model`, in float32.

    That of `tokens.logits` is the largest over the `steps` of generation, each alone: one step may be many times as far off as
    all together. Where experts or passages are chosen there is none.

    One draw may be lucky: where a softmax or a norm stands on an edge, another is several times as large. The further ones have
    all weights moved by about a rounding unit of the type. Where a model chooses experts or passages, moved weights may rightly
    choose others in 16 bits, so only float32 is drawn more than once; without a float64 run there is one draw.
    """
    model_class, choosing = type(model), chooses(directory, results)
    runs = Runs(cases, None if choosing else steps)
    results = results + runs.of_steps(model)
    reference, named = float64_results(model_class, directory, runs), "float64"
    if reference is None:
        reference, named, draws = results, "float32", 1
    metadata = {"noise.reference": named}
    for precision, dtype in PRECISIONS.items():
        if dtype == torch.float32 and named == "float32":
            continue
        found = results if dtype == torch.float32 else runs.of(load(model_class, directory, dtype))
        errors = largest_errors(found, reference)
        again = draws if dtype == torch.float32 or not choosing else 1
        for seed in range(1, again):
            errors = larger(errors, another_draw(model_class, directory, dtype, runs, seed))
        metadata[f"noise.{precision}"] = json.dumps(errors, sort_keys=True)
    return metadata | ({"noise.draws": str(draws)} if draws > 1 else {})


@dataclass
class Runs:
    """What is run in each compute type."""

    cases: list
    steps: Optional[tuple]

    def of(self, model):
        """Per case a dict of named results, then one for each step."""
        return run_all(model, self.cases) + self.of_steps(model)

    def of_steps(self, model):
        """The logits of each step of generation."""
        if self.steps is None:
            return []
        case, first = self.steps
        logits = run(model, case, trace=False)["logits"][:, first:]
        return [{"tokens.logits": step} for step in logits.unbind(1)]


def chooses(directory, results):
    """Whether passages or experts are chosen on the way."""
    family = FAMILIES[kind(read_config(directory))]
    return getattr(family, "CHOOSES", False) or any(name.startswith("routing.") for result in results for name in result)


def another_draw(model_class, directory, dtype, runs, seed):
    """The errors of moved weights in `dtype` against float64, by name."""
    exact, rounded = load(model_class, directory, torch.float32), load(model_class, directory, dtype)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight, copy in zip(exact.parameters(), rounded.parameters(), strict=True):
            weight.mul_(1 + torch.finfo(dtype).eps / 2 * torch.randn(weight.shape, generator=random))
            copy.copy_(weight)
    found = runs.of(rounded)
    with Float64Throughout():
        return largest_errors(found, runs.of(exact.to(torch.float64)))


def larger(errors, others):
    """The larger of both, by name; what overflowed only in the other draw stays as it is."""
    return {name: [max(pair) for pair in zip(own, others.get(name, own))] for name, own in errors.items()}


def float64_results(model_class, directory, runs):
    """The float64 run of the weights as float32 reads them, or None where a model insists on float32."""
    model = load(model_class, directory, torch.float32).to(torch.float64)
    try:
        with Float64Throughout():
            return runs.of(model)
    except RuntimeError:
        return None


class Float64Throughout(TorchFunctionMode):
    """Turns the casts to float32 inside model code (norms, softmax, rotary tables) into casts to float64.

    Without it the "float64" run of an RMS norm would round to float32 and the recorded noise would look too small.
    """

    CASTS = (torch.Tensor.to, torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        elif func in self.CASTS:
            args = tuple(torch.float64 if value is torch.float32 else value for value in args)
            kwargs = {key: torch.float64 if value is torch.float32 else value for key, value in kwargs.items()}
        return func(*args, **kwargs)


def largest_errors(found, reference):
    """{name: [relative L2, relative maximum]}; a name that overflows in this type has no entry."""
    errors = {}
    for one, other in zip(found, reference):
        for name, value in one.items():
            pair = relative_errors(value.double(), other[name].double())
            errors[name] = [max(old, new) for old, new in zip(errors.get(name, (0.0, 0.0)), pair)]
    return {name: pair for name, pair in errors.items() if all(numpy.isfinite(pair))}


def relative_errors(value, reference):
    """|d| / |ref| and max|d| / max|ref|, to three digits; not a number counts as infinite."""
    difference = (value - reference).nan_to_num(nan=float("inf"))
    ratios = (difference.norm() / reference.norm(), difference.abs().max() / reference.abs().max())
    return [float(f"{float(ratio):.3g}") for ratio in ratios]
