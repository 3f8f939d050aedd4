"""The calls of the protocol: part of the engine `torch`."""

import gc
import itertools

import torch
import transformers

from engine import engine_models, engine_operators, engine_times, torch_collectives, torch_compiled, torch_split
from engine.engine_device import Device, set_modules_aside, set_tf32
from engine.engine_forward import forward, packed
from engine.engine_protocol import Unsupported
from engine.engine_session import Session
from engine.torch_repeated import KeptResults

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
ATTENTION = ("eager", "sdpa", "flash_attention_2")
OPTIONS = (*ATTENTION, "compile", "split", "tf32")
# The calls that can be timed.
TIMED = ("forward", "step", "operator")


class Calls:
    """One method for each call; a method returns the reply and its tensors."""

    def __init__(self, options):
        unknown = [option for option in options if option not in OPTIONS]
        if unknown:
            raise Unsupported(f"engine torch has no option `{unknown[0]}`; it has {', '.join(OPTIONS)}")
        chosen = [option for option in options if option in ATTENTION]
        if len(chosen) > 1:
            raise Unsupported(f"`{chosen[0]}` and `{chosen[1]}` are two implementations of attention; name one")
        self.attention = chosen[0] if chosen else None
        # In a column with eager attention, everything is computed one after another.
        self.experts = "eager" if self.attention == "eager" and "experts" in engine_models.implementations() else None
        self.compiler = torch_compiled.Compiler() if "compile" in options else None
        self.split = "split" in options
        self.collectives = torch_collectives.Collectives()
        self.kept = KeptResults()
        self.device = Device()
        self.models, self.sessions, self.identifiers = {}, {}, itertools.count(1)
        self.tf32 = "tf32" in options
        # The models that compute in TF32 in any case.
        self.tf32_models = set()
        # Once for this thread, which makes all calls: entering `no_grad` takes a microsecond of each call that is timed.
        torch.set_grad_enabled(False)
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        set_modules_aside()

    def devices(self, _):
        """The GPUs that could be opened."""
        return {"devices": self.device.listed()}, {}

    def open(self, _, device):
        """Opens a device; the CPU where torch does not have it."""
        return self.device.open(device), {}

    def compute(self, tensors, operation, dtype, result):
        """One operation on the device."""
        operands = [tensors[name].to(self.device.torch, DTYPES[dtype]) for name in ("left", "right") if name in tensors]
        operations = {
            "cast": lambda left: left,
            "add": torch.add,
            "multiply": torch.mul,
            "matrix_product": torch.matmul,
            "sum": lambda left: left.sum().reshape(1),
        }
        set_tf32(self.tf32 or dtype == "tf32")
        return {}, {"result": operations[operation](*operands).to(DTYPES[result]).float().cpu()}

    def operator(self, tensors, dtype, **call):
        """One operator with the arguments of PyTorch's function."""
        call = engine_operators.Call(tensors=tensors, **call)
        if call.operator in torch_collectives.OPERATORS:
            self.collectives.tf32 = self.tf32 or dtype == "tf32"
            return engine_operators.collective(call, self.collectives, self.device, self.kept)
        return engine_operators.packed(call, self.work(call, dtype)(), self.device, self.kept)

    def read_result(self, _, result, first, count):
        """Neighbouring elements of a result that remained on the device."""
        return {}, {"result": self.kept.part(result, first, count)}

    def drop_result(self, _, result):
        """Drops a result that remained on the device."""
        self.kept.drop(result)
        return {}, {}

    def work_of_operator(self, tensors, dtype, **call):
        """The computation of an operator, with its inputs on the device."""
        call = engine_operators.Call(tensors=tensors, **call)
        if call.operator in torch_collectives.OPERATORS:
            raise Unsupported(f"times of `{call.operator}`, whose inputs are sent to other processes")
        return self.work(call, dtype)

    def work(self, call, dtype):
        """The computation of an operator of one device."""
        set_tf32(self.tf32 or dtype == "tf32")
        # In a column with eager attention, attention is computed of its parts.
        return engine_operators.work(call, self.device, math=self.attention == "eager")

    def time(self, tensors, timed, **repetitions):
        """The milliseconds of a repeated call, whose results stay on the device."""
        name = timed.pop("call")
        if name not in TIMED:
            raise Unsupported(f"times of `{name}`")
        work = getattr(self, f"work_of_{name}")(tensors, **timed)
        return {"milliseconds": engine_times.measured(self.device, work, **repetitions)}, {}

    def load(self, _, directory, model_type, dtype, config=None, implementation=None, **names):
        """Loads a checkpoint."""
        chosen = {"attention": self.attention, "experts": self.experts, "split": self.split}
        if implementation is not None:
            # Where attention is compared, experts are computed one after another, which has no limit on their sizes.
            chosen["experts"] = "eager" if "experts" in engine_models.implementations() else None
            chosen[implementation["of"]] = implementation["name"]
        self.device.begin_peak()
        request = engine_models.Request(directory, config, model_type, names["class"], DTYPES[dtype], **chosen)
        model, read, unused = engine_models.load(request, self.device.torch)
        if self.compiler is not None:
            self.compiler.compile(model)
        identifier = next(self.identifiers)
        self.models[identifier] = model
        if dtype == "tf32":
            self.tf32_models.add(identifier)
        return {"model": identifier, "read": read, "unused": unused}, {}

    def forward(self, tensors, model, traced):
        """Every output of the model."""
        return packed(self.computed(self.work_of_forward(tensors, model, traced)), self.device)

    def work_of_forward(self, tensors, model, traced):
        """The computation of a forward call, from inputs on the host."""
        self.choose_tf32(model)
        return lambda: forward(self.models[model], self.device.inputs(tensors), traced)

    def open_session(self, _, model):
        """A sequence with a cache."""
        identifier = next(self.identifiers)
        self.sessions[identifier] = (model, Session(self.models[model]))
        return {"session": identifier}, {}

    def step(self, tensors, session):
        """More tokens of a sequence."""
        return packed(self.computed(self.work_of_step(tensors, session)), self.device)

    def work_of_step(self, tensors, session):
        """The computation of a step, from inputs on the host."""
        model, sequence = self.sessions[session]
        self.choose_tf32(model)
        return lambda: sequence.step(self.device.inputs(tensors))

    def computed(self, work):
        """The result of a computation."""
        if self.compiler is not None:
            return self.compiler.computed(lambda: torch_split.computed(work) if self.split else work())
        return torch_split.computed(work) if self.split else work()

    def choose_tf32(self, model):
        """Products in TF32 for this model, or not: torch has one switch for all."""
        set_tf32(self.tf32 or model in self.tf32_models)

    def reset_session(self, _, session):
        """Forgets the tokens of a sequence."""
        self.sessions[session][1].reset()
        return {}, {}

    def close_session(self, _, session):
        """Ends a sequence."""
        self.sessions.pop(session, None)
        return {}, {}

    def memory(self, _):
        """The bytes of all tensors on the device, and the most since the last load."""
        peak = self.device.peak()
        return {"in_use": self.device.memory(), **({"peak": peak} if peak is not None else {})}, {}

    def unload(self, _, model):
        """Drops a model and its sequences."""
        self.models.pop(model, None)
        self.sessions = {key: value for key, value in self.sessions.items() if value[0] != model}
        # Modules refer to each other, so that only the collector frees their tensors.
        gc.collect()
        self.device.release()
        return {}, {}
