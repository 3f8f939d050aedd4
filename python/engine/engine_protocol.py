"""Messages on a pipe: part of the engines `torch` and `onnxruntime`."""

import json
import struct

MAGIC = b"TGEN"
VERSION = 1
PREFIX = struct.Struct("<4sIQ")
# Longer messages of libraries are pages of advice.
LONGEST = 600


class CallError(Exception):
    """A call that failed for a reason that the message explains."""


class Unsupported(CallError):
    """This version, or these options, do not have what was asked for."""


def read(pipe):
    """The header and the bytes of the tensors; None when the pipe is closed."""
    prefix = pipe.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    magic, header, tensors = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise SystemExit(f"not a message of the protocol: {prefix!r}")
    return json.loads(pipe.read(header)), pipe.read(tensors)


def write(pipe, header, blob=b""):
    """Sends one message."""
    text = json.dumps(header).encode()
    pipe.write(PREFIX.pack(MAGIC, len(text), len(blob)) + text)
    pipe.write(blob)
    pipe.flush()


def failure(error):
    """The error of a response."""
    text = str(error).strip() or type(error).__name__
    name = "" if isinstance(error, CallError) else f"{type(error).__name__}: "
    return {"kind": kind(error), "message": (name + text)[:LONGEST]}


# Of torch's allocator for the host, of drivers and libraries of GPUs, and of ONNX Runtime's arena and its allocator for the host.
TEXTS_OUT_OF_MEMORY = (
    "CUDA error: out of memory",
    "HIP error: out of memory",
    "BLAS_STATUS_ALLOC_FAILED",
    "DefaultCPUAllocator: can't allocate memory",
    "Failed to allocate memory for requested buffer of size",
    "std::bad_alloc",
)


def kind(error):
    """The kind of an error; by the name of its class, because torch may be missing."""
    if isinstance(error, Unsupported):
        return "unsupported"
    return "out_of_memory" if is_out_of_memory(error) else "failed"


def is_out_of_memory(error):
    """Whether a device or the host has not enough memory. Errors without a class of their own are known by their text."""
    named = any(base.__name__ in ("OutOfMemoryError", "MemoryError") for base in type(error).__mro__)
    return named or any(text in str(error) for text in TEXTS_OUT_OF_MEMORY)
