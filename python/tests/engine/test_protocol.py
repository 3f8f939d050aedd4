"""Messages of the engine `torch`."""

import io

import pytest

from engine import engine_protocol


def test_a_message_returns_as_it_was_written():
    pipe = io.BytesIO()
    engine_protocol.write(pipe, {"id": 1, "reply": {"ä": 2}}, b"tensors")
    pipe.seek(0)
    assert engine_protocol.read(pipe) == ({"id": 1, "reply": {"ä": 2}}, b"tensors")
    assert engine_protocol.read(pipe) is None


def test_other_bytes_end_the_engine():
    with pytest.raises(SystemExit, match="not a message"):
        engine_protocol.read(io.BytesIO(b"x" * 16))


def test_errors_are_short_and_say_whether_the_engine_lacks_something():
    unsupported = engine_protocol.failure(engine_protocol.Unsupported("no class `X`"))
    assert unsupported == {"kind": "unsupported", "message": "no class `X`"}
    failed = engine_protocol.failure(ValueError("x" * 10_000))
    assert failed["kind"] == "failed" and failed["message"].startswith("ValueError: x") and len(failed["message"]) < 1000
    assert engine_protocol.failure(KeyError())["message"] == "KeyError: KeyError"


def test_missing_memory_is_a_kind_of_its_own():
    class OutOfMemoryError(RuntimeError):
        """torch's class, which is derived from RuntimeError, too."""

    host = "[enforce fail at alloc_cpu.cpp:128] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4398046511104 bytes"
    arena = "BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 8589934592"
    device = OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    driver = RuntimeError("HIP error: out of memory")
    library = RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
    for error in (device, MemoryError(), RuntimeError(host), RuntimeError(arena), driver, library):
        assert engine_protocol.failure(error)["kind"] == "out_of_memory", error
    assert engine_protocol.failure(RuntimeError("shape mismatch"))["kind"] == "failed"
