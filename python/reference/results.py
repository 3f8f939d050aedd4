"""Runs the reference and names its results."""

import contextlib
import re

import torch

from reference.errors import RecordError
from reference.families import FAMILIES, family_of
from reference.forward_arguments import parameters, takes
from reference.registry import entry, is_native


def run_all(model, cases):
    """Per case a dict of named results; the main case also holds the hidden states as `trace.*`."""
    return [run(model, case, trace=index == 0) for index, case in enumerate(cases)]


@torch.no_grad()
def run(model, case, trace):
    """The tensors of one forward call by the names of its result."""
    if family_of(type(model)) is not None:
        return family_of(type(model)).run(model, case, trace)
    inputs = {name: value.to(model.dtype) if value.is_floating_point() else value for name, value in by_choice(model, case).items()}
    if "use_cache" in parameters(model):
        inputs["use_cache"] = False
    if not is_native(model.config):
        return run_any(model, inputs, trace)
    routers = {}
    with watched_routers(model, case, routers) if trace else contextlib.nullcontext():
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


def run_any(model, inputs, trace):
    """The results of a type without a native implementation: tensors, also those in lists, whose first dimension is that of an input, and
    hidden states and routers as far as the type has the usual ones."""
    routers = {}
    options = {"output_hidden_states": trace, "return_dict": True}
    with watched_routers(model, inputs, routers) if trace else contextlib.nullcontext():
        result = model(**inputs, **{name: value for name, value in options.items() if takes(model, name)})
    halves = dual_states(model, result) if trace else {}
    result = by_name(result)
    rows = rows_of(model, inputs)
    found = {name: value for name, value in listed(result).items() if value.is_floating_point() and value.numel()}
    # Packed images have one row for each patch, and results may have fewer.
    named = {name: value for name, value in found.items() if value.ndim and len(value) in rows} or found
    if not named:
        raise RecordError(f"`{type(model).__name__}` returns no tensor of numbers")
    if trace:
        named |= routers | halves
        for stack in ("", "encoder_", "decoder_"):
            states = usual_states(result.get(f"{stack}hidden_states"), rows)
            named |= traces(stack.replace("_", "."), with_embeddings(model, inputs, states))
    return named


def chooses(model):
    """Whether a row of the model's input is several texts, the choices."""
    return type(model).__name__.endswith("ForMultipleChoice")


def by_choice(model, case):
    """The arguments as the class takes them: of a class that chooses, texts [rows, seq] are the only choice of their row."""
    is_single = chooses(model) and case["input_ids"].ndim == 2
    return {name: value.unsqueeze(1) for name, value in case.items()} if is_single else case


def rows_of(model, inputs):
    """The first dimensions that results may have; choices are computed as rows."""
    tensors = [value for value in inputs.values() if isinstance(value, torch.Tensor) and value.ndim]
    choices = {value.shape[0] * value.shape[1] for value in tensors if value.ndim > 1} if chooses(model) else set()
    return choices | {len(value) for value in tensors}


def dual_states(model, result):
    """Hidden states of a text encoder and an image encoder, each with a result of its own, as the native dual encoders have them."""
    halves = [getattr(result, f"{name}_model_output", None) for name in ("text", "vision")]
    known = all(getattr(half, "hidden_states", None) is not None for half in halves)
    return FAMILIES[model.config.model_type].trace(result) if known and entry(model.config).recorder == "vision_text" else {}


def by_name(result):
    """A result as a dict; one without names has numbers."""
    if isinstance(result, torch.Tensor):
        return {"output": result}
    if isinstance(result, (list, tuple)) and not hasattr(result, "items"):
        return {"output": tuple(result)}
    return dict(result.items()) if hasattr(result, "items") else vars(result)


# Results that are recorded in another way, or not at all: attention scores exist in one implementation only.
NOT_LISTED = re.compile(r"hidden_states|attentions|past_key_values|cache|router|mems|loss")


def listed(result):
    """The tensors of a result by name, those in a list with their numbers."""
    found = {}
    for name, value in result.items():
        if isinstance(value, torch.Tensor) and not re.search("attentions|loss", name):
            found[name] = value
        elif isinstance(value, (list, tuple)) and not NOT_LISTED.search(name):
            found |= {f"{name}.{index}": one for index, one in enumerate(value) if isinstance(one, torch.Tensor)}
    return found


def usual_states(states, rows):
    """Hidden states if they are a list of tensors with the rows of an input, else none."""
    states = states if isinstance(states, (list, tuple)) else ()
    usual = all(isinstance(state, torch.Tensor) and state.ndim and len(state) in rows for state in states)
    return states if usual else ()


def with_embeddings(model, inputs, states):
    """Hidden states that begin with the embeddings; the lists of some types with a recurrent state lack them."""
    if not states or entry(model.config).architecture != "ssm" or "input_ids" not in inputs:
        return states
    embedded = model.get_input_embeddings()(inputs["input_ids"])
    same = states[0].shape == embedded.shape and torch.equal(states[0], embedded)
    return states if same else [embedded, *states]


def measurable(results):
    """The results without those that have infinite values, such as scores that the model itself hides; all if none is left."""
    return [{name: value for name, value in result.items() if torch.isfinite(value).all()} or result for result in results]


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
            if not is_routing(result, case):
                return
            logits, weights, chosen = result
            shape = [*case["input_ids"].shape, logits.shape[-1]]
            routers[f"router.{layer}"] = torch.softmax(logits.float(), -1).reshape(shape)
            routers[f"routing.{layer}"] = torch.zeros_like(logits, dtype=weights.dtype).scatter(-1, chosen, weights).reshape(shape)

        return hook

    found = [(name, module) for name, module in model.named_modules() if type(module).__name__.endswith("TopKRouter")]
    layers = [(re.search(r"layers\.(\d+)\.", name), module) for name, module in found]
    hooks = [module.register_forward_hook(keep(layer[1])) for layer, module in layers if layer]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def is_routing(result, case):
    """Whether a router returns logits, weights and the numbers of the chosen experts of each token of the text."""
    if not isinstance(result, tuple) or len(result) != 3 or "input_ids" not in case:
        return False
    logits, weights, chosen = result
    is_of_text = logits.numel() == case["input_ids"].numel() * logits.shape[-1]
    return is_of_text and weights.shape == chosen.shape and not chosen.is_floating_point()
