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
    return {"kind": "unsupported" if isinstance(error, Unsupported) else "failed", "message": (name + text)[:LONGEST]}
