"""The calls of the protocol: part of the engine `onnxruntime`."""

import gc
import itertools

import numpy

from engine import onnx_account, onnx_graph, onnx_half
from engine.engine_protocol import CallError, Unsupported
from engine.onnx_operation import Operations
from engine.onnx_provider import PROVIDERS, Device
from engine.onnx_session import GraphSession, float_type, is_not_implemented

OPTIONS = (*PROVIDERS, "tf32", "unoptimized")
# What transformers computes where a caller leaves out an input; a graph has no defaults.
DEFAULTS = {
    "attention_mask": (("input_ids", "input_values"), numpy.ones_like),
    "decoder_attention_mask": (("decoder_input_ids",), numpy.ones_like),
    "past_observed_mask": (("past_values",), numpy.ones_like),
    "pixel_mask": (("pixel_values",), lambda image: numpy.ones_like(image[:, 0])),
    "position_ids": (("input_ids",), lambda ids: numpy.broadcast_to(numpy.arange(ids.shape[1]), ids.shape)),
    "token_type_ids": (("input_ids",), numpy.zeros_like),
}
NO_CACHE = "an exported graph without a cache reads whole sequences only"
# The features of a model that a graph does not have.
LACKS = {
    "hidden_states": "an exported graph has no hidden states among its outputs",
    "configuration": "the configuration is part of an exported graph and cannot be changed",
}


class Calls:
    """One method for each call; a method returns the reply and its tensors."""

    def __init__(self, options):
        unknown = [option for option in options if option not in OPTIONS]
        if unknown:
            raise Unsupported(f"engine onnxruntime has no option `{unknown[0]}`; it has {', '.join(OPTIONS)}")
        chosen = [option for option in options if option in PROVIDERS]
        if len(chosen) > 1:
            raise Unsupported(f"`{chosen[0]}` and `{chosen[1]}` are two execution providers; name one")
        self.device = Device(chosen[0] if chosen else None, "unoptimized" not in options, "tf32" in options)
        self.operations = Operations(self.device)
        self.models, self.identifiers = {}, itertools.count(1)

    def devices(self, _):
        """The GPUs that could be opened."""
        return {"devices": self.device.listed()}, {}

    def open(self, _, device):
        """Opens a device; the CPU where no provider computes on it."""
        return self.device.open(device), {}

    def compute(self, tensors, operation, dtype, result):
        """One operation on the device."""
        return {}, {"result": self.operations.compute(operation, dtype, result, tensors)}

    def load(self, _, directory, model_type, dtype, config=None, **names):
        """Starts a session for the graph of a checkpoint."""
        if config is not None:
            raise Unsupported(LACKS["configuration"])
        path = onnx_graph.find(directory, names["class"])
        account = onnx_account.account(directory, path)
        session = self.session(path, dtype)
        if PROVIDERS[self.device.provider] not in session.providers():
            raise CallError(f"the session of `{path}` has {', '.join(session.providers())}, not {PROVIDERS[self.device.provider]}")
        if any(name.startswith("past_key_values") for name in session.inputs):
            raise Unsupported(f"`{path}` reads a cache; testgen needs a graph without one")
        identifier = next(self.identifiers)
        self.models[identifier] = session
        lacks = LACKS | ({"tensors": account.folded} if account.folded else {})
        return {"model": identifier, "read": account.read, "unused": account.unused, "lacks": lacks}, {}

    def session(self, path, dtype):
        """A session for a graph in a type."""
        with onnx_half.in_type(path, dtype) as model:
            try:
                return GraphSession(model, self.device, tf32=dtype == "tf32")
            except Exception as error:
                if is_not_implemented(error):
                    raise Unsupported(f"the execution provider `{self.device.provider}`: {error}") from error
                # The graph as it is in the file must be valid.
                if dtype == "f16" and any(part in str(error) for part in ("INVALID_GRAPH", "Type Error")):
                    raise Unsupported(f"onnxruntime.transformers.float16 converts the graph to an invalid one: {error}") from error
                raise

    def forward(self, tensors, model, traced):
        """Every output of the graph; it has no others, whether traced or not."""
        session = self.models[model]
        found = session.run(arguments(session.inputs, tensors))
        on = session.computed_on()
        outputs = {f"output.{name}": value for name, value in found.items()}
        typed = {name: float_type(value) for name, value in outputs.items()}
        placements = [{"name": name, "device": on, "dtype": dtype} for name, dtype in typed.items() if dtype is not None]
        tensors = {name: value.astype(numpy.int64 if typed[name] is None else numpy.float32) for name, value in outputs.items()}
        return {"placements": placements, "providers": session.shares}, tensors

    def open_session(self, _, model):
        """Not for a graph without a cache."""
        raise Unsupported(NO_CACHE)

    def memory(self, _):
        """ONNX Runtime does not report the bytes of its tensors."""
        return {}, {}

    def unload(self, _, model):
        """Ends the session of a model."""
        self.models.pop(model, None)
        gc.collect()
        return {}, {}


def arguments(expected, given):
    """The inputs of a graph, in its types."""
    extra = sorted(set(given) - set(expected))
    if extra:
        raise Unsupported(f"the graph has no input `{extra[0]}`")
    inputs = dict(given)
    for name in expected:
        if name not in inputs:
            sources, make = DEFAULTS.get(name, ((), None))
            source = next((source for source in sources if source in given), None)
            if source is None:
                raise Unsupported(f"the graph needs the input `{name}`, which this call does not have")
            inputs[name] = make(given[source])
    return {name: value.astype(TYPES.get(expected[name].type, value.dtype)) for name, value in inputs.items()}


TYPES = {
    "tensor(float)": numpy.float32,
    "tensor(float16)": numpy.float16,
    "tensor(int64)": numpy.int64,
    "tensor(int32)": numpy.int32,
    "tensor(bool)": numpy.bool_,
}
