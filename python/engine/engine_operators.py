"""Calls of single operators: part of the engine `torch`."""

from dataclasses import dataclass

import torch

from engine import torch_operators, torch_repeated
from engine.engine_protocol import Unsupported
from engine.torch_repeated import portable

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "bool": torch.bool}
NAMES = {dtype: name for name, dtype in TYPES.items()}
# Between the elements of a slice: a number that shows in every result.
FILL = {torch.int32: torch.iinfo(torch.int32).max, torch.bool: True}


@dataclass
class Call:
    """A call of the protocol; `inputs` has type and layout of each input, `tensors` the numbers as `input.<index>`."""

    operator: str
    inputs: list
    attributes: dict
    tensors: dict
    # Larger shapes of the inputs, which repeat the tensors, and the shape of what is filled with NaN.
    repeated: dict | None = None

    def shapes(self):
        """The shape of each input, None where it is not repeated."""
        return self.repeated["shapes"] if self.repeated else [None] * len(self.inputs)


def inputs_of(call, device):
    """The inputs in their types and layouts, on a device."""
    inputs = []
    for index, (description, shape) in enumerate(zip(call.inputs, call.shapes(), strict=True)):
        x = call.tensors[f"input.{index}"].to(device, TYPES[description["element"]])
        layout = description["layout"]
        inputs.append(placed(x, layout) if shape is None else torch_repeated.repeated(x, shape, layout))
    return inputs


def work(call, device, *, math):
    """The computation of a call, with its inputs on the device."""
    if call.operator not in torch_operators.names():
        raise Unsupported(f"operator `{call.operator}`")
    inputs = inputs_of(call, device.torch)
    if call.repeated and "fill" in call.repeated:
        torch_repeated.fill(call.repeated["fill"], inputs, device.torch)
    function = torch_operators.function(call.operator, call.attributes, math=math)
    return lambda: compute(function, inputs)


def compute(function, inputs):
    """The result of a call."""
    try:
        return function(inputs)
    except NotImplementedError as error:
        # Not every function has a kernel for every type, for instance `avg_pool3d` for bf16 on the CPU.
        raise Unsupported(str(error)) from error


def collective(call, collectives, device, kept):
    """The reply and the tensor of a collective, which several devices of the kind compute."""
    tensors = [call.tensors[f"input.{index}"].to(TYPES[description["element"]]) for index, description in enumerate(call.inputs)]
    results = collectives.compute(call, tensors, device.torch.type)
    reply = {"element": NAMES[results.dtype], "device": device.kind()}
    if call.repeated is not None:
        return reply | {"kept": kept.keep(results)}, {}
    return reply, {"result": portable(results)}


def packed(call, result, device, kept):
    """The reply and its tensor, which remains on the device if the inputs were repeated."""
    if result.dtype == torch.int64:
        # Sums of 32-bit integers are 64-bit integers in PyTorch.
        result = result.to(torch.int32)
    reply = {"element": NAMES[result.dtype], "device": device.kind_of(result)}
    if call.repeated is not None:
        return reply | {"kept": kept.keep(torch_repeated.DeviceResult(result))}, {}
    return reply, {"result": portable(result).cpu()}


def placed(x, layout):
    """The same numbers in another layout."""
    if layout == "contiguous":
        return x
    if layout == "reversed":
        axes = tuple(reversed(range(x.ndim)))
        return x.permute(axes).contiguous().permute(axes)
    if layout == "sliced":
        within = (slice(1, None, 2),) * x.ndim
        surrounded = torch.full([2 * length + 1 for length in x.shape], FILL.get(x.dtype, torch.nan), dtype=x.dtype, device=x.device)
        surrounded[within] = x
        return surrounded[within]
    if layout == "expanded":
        return stored_once(x).expand(x.shape)
    raise Unsupported(f"layout `{layout}` of an input")


def stored_once(x):
    """The tensor with size 1 for each dimension along which all elements are equal."""
    for dimension in range(x.ndim):
        first = x.narrow(dimension, 0, min(1, x.shape[dimension]))
        if torch.equal(first.expand(x.shape), x):
            x = first
    return x.clone()
