"""The checkpoint whose answers are recorded, and the shape of a recorded answer: part of the recorder `answers.py`."""

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from safetensors import safe_open

from record import drawn_inputs
from record.plain_texts import plain_texts
from reference.errors import RecordError
from reference.loading import class_of, load, read_config
from reference.registry import entry
from reference.results import run
from reference.text_inputs import read_tokenizer


class NotServed(Exception):
    """The checkpoint lacks something that the task needs; the message says what."""


class Subject:
    """A checkpoint with its golden."""

    def __init__(self, directory, golden=None):
        self.directory, self.config = directory, read_config(directory)
        self.model_class = class_of(self.config)
        path = golden or os.path.join(directory, "golden.safetensors")
        if not os.path.exists(path):
            raise RecordError(f"`{path}` does not exist; record it first")
        with safe_open(path, "pt") as file:
            self.metadata = file.metadata()
            names = file.keys()
            self.golden = drawn_inputs.complete({name: file.get_tensor(name) for name in names}, self.metadata)

    @property
    def architecture(self):
        """The architecture of the checkpoint's model type."""
        return entry(self.config).architecture

    @cached_property
    def model(self):
        """The model in float32."""
        return load(self.model_class, self.directory, torch.float32)

    @cached_property
    def tokenizer(self):
        """The checkpoint's tokenizer."""
        found = read_tokenizer(self.directory)
        if found is None:
            raise NotServed("the checkpoint has no tokenizer")
        return found

    @cached_property
    def texts(self):
        """The texts of the golden's main case, so that a device sees the same shapes again."""
        return json.loads(self.metadata["text"]) if "text" in self.metadata else plain_texts(self)

    @property
    def has_routing(self):
        """Whether the model chooses experts: the golden has what its routers chose."""
        return any(name.startswith("routing.") for name in self.golden)

    def inputs(self, case=0):
        """The inputs of a case of the golden, in the types that models take."""
        prefix = f"case.{case}.input." if case else "input."
        found = {name.removeprefix(prefix): value for name, value in self.golden.items() if name.startswith(prefix)}
        return {name: value.float() if value.is_floating_point() else value.long() for name, value in found.items()}

    def names(self, kind):
        """The golden's raw inputs of a kind, `image` or `audio`, in their order; a task that needs them has no request without."""
        found = sorted((name for name in self.golden if name.startswith(f"{kind}.")), key=lambda name: int(name.split(".")[1]))
        if not found:
            raise NotServed(f"the golden has no `{kind}.*`: the checkpoint has no processor")
        return found


@dataclass
class Answered:
    """A request with the reference's answer."""

    request: dict[str, Any]
    answer: dict[str, Any]
    # The class or function that computes the answer, and its library if that is not transformers.
    source: str
    # Computes the numbers of the answer with a model in any type: `of(model)` is a list with one dict of tensors.
    runs: Any | None = None
    library: str | None = None
    # The noise where it is not measured by `runs`.
    noise: dict[str, Any] | None = None


class Forward:
    """Forward calls of `cases`, and the numbers that `numbers(results)` computes from each; of all calls together."""

    def __init__(self, cases, numbers):
        self.cases, self.numbers = cases, numbers

    def of(self, model):
        """One dict of flat tensors."""
        return [joined([self.numbers(index, run(model, case, trace=False)) for index, case in enumerate(self.cases)])]


def joined(parts):
    """The tensors of several dicts by name, flat, in one tensor each."""
    return {name: torch.cat([part[name].flatten() for part in parts]) for name in parts[0]}


def at_least_float32(tensor):
    """Postprocessing computes in float32; the reference of the noise in float64."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def exact(values):
    """Numbers of float32 as the shortest decimals that are read back as the same float32."""
    return [float(str(value)) for value in torch.as_tensor(values).detach().float().flatten().numpy()]


def number(value):
    """One number of float32."""
    return exact([value])[0]


def vector(tensor):
    """A tensor as `shape` and `values`."""
    return {"shape": list(tensor.shape), "values": exact(tensor)}
