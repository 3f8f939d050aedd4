"""Collectives of `torch.distributed` and products that are split over devices: part of the engine `torch`.

Each rank is a process with its own device, which stays until the engine ends or another number of ranks is asked for. On GPUs they speak
NCCL, which on AMD is RCCL; on the host processor Gloo.
"""

import itertools
import math
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.multiprocessing as mp

from engine.engine_protocol import Unsupported
from engine.torch_repeated import DeviceResult, KeptResults, fill, repeated

# Seconds for the answers of all ranks: a rank that waits for another one that has ended must not wait for the engine's own limit.
PATIENCE = 120
# Seconds until all ranks can compute: each imports torch, and the library of collectives connects them.
START = 420
# The number of the message that a rank can compute.
READY = 0


def all_reduce(x, world, a):
    """The sum of the tensors of all ranks."""
    if a["in_place"]:
        dist.all_reduce(x)
        return x
    return functional.all_reduce(x, "sum", dist.group.WORLD).wait()


def all_gather(x, world, a):
    """The tensors of all ranks, one after another."""
    gathered = torch.empty(world * x.numel(), dtype=x.dtype, device=x.device)
    if a["in_place"]:
        # Each rank's own part is read where the result is written.
        part = gathered.view(world, -1)[dist.get_rank()]
        part.copy_(x)
        x = part
    dist.all_gather_into_tensor(gathered, x)
    return gathered


def reduce_scatter(x, world, a):
    """Of the sum of the tensors of all ranks, the part of this one."""
    parts = x.view(world, -1)
    own = parts[dist.get_rank()] if a["in_place"] else torch.empty_like(parts[0])
    dist.reduce_scatter_tensor(own, x)
    return own


def all_to_all(x, world, a):
    """From each rank the part that it has for this one."""
    received = torch.empty_like(x)
    dist.all_to_all_single(received, x)
    return received


def broadcast_from_rank(x, world, a):
    """The tensor of one rank."""
    dist.broadcast(x, src=a["root"] % world)
    return x


def column_parallel_product(x, weight, world, a):
    """A product whose columns are computed by different ranks, and gathered."""
    product = x @ weight
    gathered = [torch.empty_like(product) for _ in range(world)]
    dist.all_gather(gathered, product)
    return torch.cat(gathered, dim=-1)


def row_parallel_product(x, weight, world, a):
    """A product whose inner dimension is split over the ranks, and summed."""
    product = x @ weight
    dist.all_reduce(product)
    return product


# Each operator, and the number of its tensors.
OPERATORS = {
    "all_reduce": (all_reduce, 1),
    "all_gather": (all_gather, 1),
    "reduce_scatter": (reduce_scatter, 1),
    "all_to_all": (all_to_all, 1),
    "broadcast_from_rank": (broadcast_from_rank, 1),
    "column_parallel_product": (column_parallel_product, 2),
    "row_parallel_product": (row_parallel_product, 2),
}


@dataclass
class Part:
    """The call of one rank: its rows of the inputs."""

    operator: str
    tensors: list
    attributes: dict
    tf32: bool
    # Larger shapes of the inputs and the shape of what is filled with NaN, both of one rank. The result remains on the rank's device.
    shapes: list | None = None
    fill: list | None = None


class Rank:
    """The calls that the process of a rank answers."""

    def __init__(self, count, device):
        self.count, self.device = count, device
        self.kept = KeptResults()

    def connect(self, store, rank):
        """Connects the ranks. NCCL does so in the first collective only."""
        backend = "nccl" if self.device.type == "cuda" else "gloo"
        dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=self.count)
        connected = torch.zeros(1, device=self.device)
        dist.all_reduce(connected)
        # Waits for the device.
        connected.cpu()

    @torch.no_grad()
    def compute(self, part):
        """The result of a call on the host, or the description of one that remains on the device, with the device's type."""
        torch.backends.cuda.matmul.allow_tf32 = part.tf32
        function, _ = OPERATORS[part.operator]
        inputs = [tensor.to(self.device) for tensor in part.tensors]
        if part.shapes is not None:
            inputs = [repeated(x, shape) for x, shape in zip(inputs, part.shapes, strict=True)]
        if part.fill is not None:
            fill(part.fill, inputs, self.device)
        result = function(*inputs, self.count, part.attributes)
        device = result.device.type
        if part.shapes is None:
            return result.cpu(), device
        return self.kept.keep(DeviceResult(result)) | {"dtype": result.dtype}, device

    def read(self, *place):
        """Neighbouring elements of a result that remains on the device."""
        return self.kept.part(*place)

    def drop(self, number):
        """Frees a result."""
        self.kept.drop(number)


class Ranks:
    """The processes of a number of ranks."""

    def __init__(self, count, device_type):
        if device_type == "cuda" and torch.cuda.device_count() < count:
            raise Unsupported(f"{count} ranks need as many GPUs, and {torch.cuda.device_count()} are visible")
        self.count, self.numbers = count, itertools.count(READY + 1)
        self.store = tempfile.TemporaryDirectory(prefix="testgen-ranks-")
        context = mp.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(count):
            ours, theirs = context.Pipe()
            arguments = (rank, count, device_type, os.path.join(self.store.name, "store"), theirs)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self.pipes.append(ours)
            self.processes.append(process)
        try:
            self.answers(range(count), READY, START)
        except RuntimeError:
            self.close()
            raise

    def compute(self, parts):
        """The result of every rank, and the types of the devices that computed them."""
        number = next(self.numbers)
        for pipe, part in zip(self.pipes, parts, strict=True):
            pipe.send((number, "compute", part))
        answers = self.answers(range(self.count), number, PATIENCE)
        return [result for result, _ in answers], {device for _, device in answers}

    def call(self, rank, *message):
        """The answer of one rank."""
        number = next(self.numbers)
        self.pipes[rank].send((number, *message))
        return self.answers([rank], number, PATIENCE)[0]

    def answers(self, ranks, number, seconds):
        """The answers of ranks to the call of this number; an error if one of them failed or does not answer within the time."""
        end = time.monotonic() + seconds
        answers = [self.answer(rank, number, end) for rank in ranks]
        failed = [
            f"rank {rank}: {answer or f'no answer within {seconds} s'}"
            for rank, answer in zip(ranks, answers, strict=True)
            if isinstance(answer, str)
        ]
        if failed:
            raise RuntimeError("; ".join(failed))
        return answers

    def answer(self, rank, number, end):
        """A rank's answer, or the text of its error: empty without an answer before the end."""
        pipe = self.pipes[rank]
        try:
            while pipe.poll(max(end - time.monotonic(), 0)):
                answered_number, answer = pipe.recv()
                # A late answer to an earlier call, whose time was over, is not that of this one.
                if answered_number == number:
                    return answer
            return ""
        except (EOFError, ConnectionError):
            return "its process has ended"

    def close(self):
        """Ends the processes."""
        for process in self.processes:
            process.terminate()
            process.join()
        self.store.cleanup()


def serve(rank, count, device_type, store, pipe):
    """The process of a rank: answers calls until the pipe is closed."""
    device = torch.device(device_type, rank) if device_type == "cuda" else torch.device("cpu")
    if device_type == "cuda":
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
        # Ranks of one host; the names of its network interfaces do not matter.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    calls = Rank(count, device)
    pipe.send((READY, answered(calls, "connect", [store, rank])))
    while True:
        try:
            number, name, *arguments = pipe.recv()
        except EOFError:
            return
        pipe.send((number, answered(calls, name, arguments)))


def answered(calls, name, arguments):
    """The answer to a call, or the text of the error."""
    try:
        return getattr(calls, name)(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@dataclass
class RankResults:
    """The results of all ranks, each on its own device; in a whole they are one after another."""

    ranks: Ranks
    numbers: list
    rank_shape: list
    dtype: torch.dtype

    def shape(self):
        """The shape of all results as one tensor."""
        return [self.ranks.count, *self.rank_shape]

    def part(self, first, count):
        """Neighbouring elements on the host, in a type of the protocol."""
        each = math.prod(self.rank_shape)
        parts = []
        while count:
            rank, start = divmod(first, each)
            length = min(count, each - start)
            parts.append(self.ranks.call(rank, "read", self.numbers[rank], start, length))
            first, count = first + length, count - length
        return torch.cat(parts)

    def drop(self):
        """Frees the memory of every rank."""
        for rank, number in enumerate(self.numbers):
            self.ranks.call(rank, "drop", number)


class Collectives:
    """The ranks of an engine by their number, started when a collective of so many is computed first."""

    def __init__(self):
        self.ranks = {}
        self.tf32 = False

    def compute(self, call, tensors, device_type):
        """The results of all ranks as one tensor on the host, or for repeated inputs where they are."""
        count = tensors[-1].shape[0]
        if count not in self.ranks:
            self.ranks[count] = Ranks(count, device_type)
        ranks = self.ranks[count]
        try:
            results, devices = ranks.compute([self.part(call, tensors, rank) for rank in range(count)])
        except (RuntimeError, OSError):
            # They may be waiting for each other; a pipe to one that has ended is closed.
            self.ranks.pop(count).close()
            raise
        if devices != {device_type}:
            raise RuntimeError(f"ranks computed on {', '.join(sorted(devices))}")
        if call.repeated is None:
            return torch.stack(results)
        return RankResults(ranks, [result["result"] for result in results], results[0]["shape"], results[0]["dtype"])

    def part(self, call, tensors, rank):
        """The call of one rank."""
        # The rows of an input are contiguous as ranks receive them, whatever layout it was asked for in.
        part = Part(call.operator, [tensor[rank].clone() for tensor in tensors], call.attributes, self.tf32)
        if call.repeated is not None:
            part.shapes = [shape[1:] for shape in call.repeated["shapes"]]
            part.fill = call.repeated["fill"][1:] if "fill" in call.repeated else None
        return part

    def close(self):
        """Ends all ranks."""
        while self.ranks:
            self.ranks.popitem()[1].close()
