"""Messages of the engine `torch`."""

import io

import pytest

import engine_protocol


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
