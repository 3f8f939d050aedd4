"""The error of the reference itself, in each compute type."""

import contextlib
import functools
import json
from dataclasses import dataclass

import torch
from torch.overrides import TorchFunctionMode

from record import progress
from record.noise_samples import NOISE_SAMPLES, noise
from record.relative_errors import finite_where, largest_errors
from record.summary import is_summarised, selected, summary
from reference.families import FAMILIES
from reference.loading import load, read_config
from reference.registry import is_native, kind
from reference.results import run, run_all

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def noise_of(model, directory, cases, results, steps=None, noise_samples=NOISE_SAMPLES, summarised=False):
    """Metadata `noise.*`: the reference's own error in each compute type, the largest over the cases and over `noise_samples` samples.

    `results` are those of the cases with `model`, in float32. If `summarised`, the errors are those of the summaries of large results.

    The error of `tokens.logits` is the largest over the `steps` of generation, each measured alone, because one step may be many
    times as far off as all steps together. Where experts or passages are chosen there is no such entry.
    """
    choosing = chooses(directory, results)
    runs = Runs(cases, None if choosing else steps, summarised)
    report = functools.partial(progress.report, "noise")
    results = runs.stored(results) + runs.of_steps(model)
    found = measured(type(model), directory, runs, results, noise_samples, choosing, report)
    reference, counted = found.pop("reference"), found.pop("noise_samples")
    metadata = {f"noise.{precision}": json.dumps(errors, sort_keys=True) for precision, errors in found.items()}
    return metadata | {"noise.reference": reference} | ({"noise.samples": str(counted)} if counted > 1 else {})


def measured(model_class, directory, runs, results, noise_samples, choosing, report=lambda done, of: None):
    """The noise of what `runs` computes; `results` are those of float32. `report(done, of)` is called before each measurement."""
    exact = float64_results(model_class, directory, runs)
    if exact is not None and not finite_where(arrays(results), exact):
        # A mask that adds the smallest float32 twice overflows only where the code asks for the smallest float64.
        exact = None
    widest = torch.float32 if exact is None else torch.float64

    def computed(precision):
        try:
            return arrays(runs.of(load(model_class, directory, DTYPES[precision])))
        except Exception:
            # Some classes compute in float32 only. A native one does not, so that its failure is a fault.
            if is_native(read_config(directory)):
                raise
            return None

    def samples(precision, count):
        return further_samples(model_class, directory, (DTYPES[precision], widest), runs, count)

    return noise(arrays(results), exact, computed, samples, noise_samples, choosing, report)


def arrays(results):
    """The results as arrays of numpy in float64."""
    return [{name: array(value) for name, value in result.items()} for result in results]


def array(value):
    """A tensor as an array of numpy in float64; anything else as it is."""
    return value.detach().double().numpy() if isinstance(value, torch.Tensor) else value


@dataclass
class Runs:
    """The calls that run in each compute type."""

    cases: list
    steps: tuple | None
    summarised: bool = False

    def of(self, model):
        """Per case a dict of named results, then one for each step, as the golden stores them."""
        return self.stored(run_all(model, self.cases)) + self.of_steps(model)

    def of_steps(self, model):
        """The logits of each step of generation."""
        if self.steps is None:
            return []
        case, first = self.steps
        logits = run(model, case, trace=False)["logits"][:, first:]
        stored = self.form("tokens.logits", logits, case)
        return [{"tokens.logits": stored[:, step]} for step in range(logits.shape[1])]

    def stored(self, results):
        """The results of the cases as the golden stores them."""
        both = zip(results, self.cases, strict=True)
        return [{name: self.form(name, value, case) for name, value in result.items()} for result, case in both]

    def form(self, name, value, case):
        """One result as the golden stores it."""
        if self.summarised and is_summarised(name, value, case):
            return summary(array(value), selected(name, value.shape, case))
        return value


def chooses(directory, results):
    """Whether the model chooses passages or experts."""
    family = FAMILIES[kind(read_config(directory))]
    return getattr(family, "CHOOSES", False) or any(name.startswith("routing.") for result in results for name in result)


def further_samples(model_class, directory, types, runs, count):
    """Yields the errors of moved weights in the first of both types against the second, by name, for `count` sets of weights."""
    if not count:
        return
    rounded, exact = load(model_class, directory, types[0]), load(model_class, directory, torch.float32).to(types[1])
    stored = [storage(weight) for weight in exact.parameters()]
    random = torch.Generator().manual_seed(1)
    for _ in range(count):
        for weight, copy, of_file in zip(exact.parameters(), rounded.parameters(), stored, strict=True):
            move(weight, copy, of_file, random)
        found = arrays(runs.of(rounded))
        with Float64Throughout() if types[1] is torch.float64 else contextlib.nullcontext():
            reference = arrays(runs.of(exact))
        yield largest_errors(found, reference)


@torch.no_grad()
def move(weight, copy, of_file, random):
    """Moves a weight by about a rounding unit, and its copy in another type with it.

    The type of the file holds the moved weight, too: a type that holds the weights exactly would otherwise get an error that only
    further samples have.
    """
    unit = max(torch.finfo(copy.dtype).eps, torch.finfo(of_file).eps)
    weight.mul_(1 + unit / 2 * torch.randn(weight.shape, generator=random))
    weight.copy_(weight.to(of_file))
    copy.copy_(weight)


def storage(weight):
    """The narrowest type that holds the values of a weight: the type of its file."""
    narrow = (torch.bfloat16, torch.float16)
    return next((dtype for dtype in narrow if torch.equal(weight.to(dtype).to(weight.dtype), weight)), torch.float32)


def float64_results(model_class, directory, runs):
    """The float64 run of the weights as float32 reads them, or None where a model only runs in float32."""
    model = load(model_class, directory, torch.float32).to(torch.float64)
    try:
        with Float64Throughout():
            return arrays(runs.of(model))
    except RuntimeError:
        return None
    except Exception:
        # Whatever code that expects float32 raises.
        if is_native(model.config):
            raise
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
