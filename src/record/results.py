"""Runs the reference and names its results: part of the recorder `goldens.py`."""

import contextlib
import inspect
import re

import torch

from errors import RecordError
from families import FAMILIES, family_of
from registry import entry


def run_all(model, cases):
    """Per case a dict of named results; the main case also holds the hidden states as `trace.*`."""
    return [run(model, case, trace=index == 0) for index, case in enumerate(cases)]


@torch.no_grad()
def run(model, case, trace):
    """The tensors of one forward call by the names of its result."""
    if family_of(type(model)) is not None:
        return family_of(type(model)).run(model, case, trace)
    inputs = {name: value.to(model.dtype) if value.is_floating_point() else value for name, value in case.items()}
    if "use_cache" in inspect.signature(model.forward).parameters:
        inputs["use_cache"] = False
    routers = {}
    with watched_routers(model, case, routers):
        result = model(**inputs, output_hidden_states=trace, return_dict=True)
    named = {name: value for name, value in result.items() if isinstance(value, torch.Tensor)}
    family = FAMILIES.get(model.config.model_type)
    named = {name: value for name, value in named.items() if name not in getattr(family, "IGNORED", ())}
    if trace:
        named |= routers
    if trace and hasattr(family, "trace"):
        named |= family.trace(result)
    elif trace:
        for stack in ("", "encoder_", "decoder_"):
            named |= traces(stack.replace("_", "."), hidden_states(model, inputs, result, stack))
    return named


def named_tensors(cases, results):
    """Inputs and outputs under the names of the golden format."""
    tensors = {}
    for index, (case, result) in enumerate(zip(cases, results, strict=True)):
        prefix = f"case.{index}." if index else ""
        tensors |= {f"{prefix}input.{name}": value for name, value in case.items()}
        for name, value in result.items():
            if not torch.isfinite(value).all():
                raise RecordError(f"`{name}` is not finite in float32; the checkpoint cannot serve as a reference")
            tensors[name if name.startswith(("trace.", "router.", "routing.")) else f"{prefix}output.{name}"] = value
    return tensors


def traces(stack, states):
    """Hidden states by the names of the golden format."""
    states = tuple(states or ())
    names = ["embed", *(f"layer.{index}" for index in range(len(states) - 1))]
    return {f"trace.{stack}{name}": state for name, state in zip(names[: len(states)], states, strict=True)}


def hidden_states(model, inputs, result, stack):
    """The embeddings, then the output of each layer, the last one after the final norm. Mamba's own list lacks the embeddings and
    also contains the last layer's output before the norm."""
    states = result.get(f"{stack}hidden_states")
    if states is None or entry(model.config).architecture != "ssm":
        return states
    embedded = model.get_input_embeddings()(inputs["input_ids"])
    return [embedded, *states[:-2], states[-1]]


@contextlib.contextmanager
def watched_routers(model, case, routers):
    """Fills `routers` with `router.<layer>` (probabilities) and `routing.<layer>` (weights of the chosen experts, 0 for the
    others), each [batch, seq, experts], while `model` runs `case`."""

    def keep(layer):
        def hook(_module, _arguments, result):
            logits, weights, chosen = result
            shape = [*case["input_ids"].shape, logits.shape[-1]]
            routers[f"router.{layer}"] = torch.softmax(logits.float(), -1).reshape(shape)
            routers[f"routing.{layer}"] = torch.zeros_like(logits, dtype=weights.dtype).scatter(-1, chosen, weights).reshape(shape)

        return hook

    found = [(name, module) for name, module in model.named_modules() if type(module).__name__.endswith("TopKRouter")]
    hooks = [module.register_forward_hook(keep(re.search(r"layers\.(\d+)\.", name)[1])) for name, module in found]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
