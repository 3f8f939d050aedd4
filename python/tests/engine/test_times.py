"""Times of repeated calls in the engine `torch`, on a device that only counts."""

from types import SimpleNamespace

import pytest

from engine import engine_times
from fixtures.paths import CHECKPOINTS


def test_the_device_is_idle_before_and_after_each_call():
    events = []
    device = SimpleNamespace(synchronize=lambda: events.append("idle"))
    times = engine_times.measured(device, lambda: events.append("call"), warmup=2, iterations=3)
    assert len(times) == 3 and all(time >= 0 for time in times)
    assert events == ["call"] * 2 + ["idle", "call", "idle"] * 3


def test_a_call_that_fails_has_no_time():
    def fail():
        raise ValueError("the device failed")

    with pytest.raises(ValueError, match="the device failed"):
        engine_times.measured(SimpleNamespace(synchronize=lambda: None), fail, warmup=0, iterations=1)


def test_forward_calls_steps_and_operators_are_timed_and_nothing_else():
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from engine.engine_calls import Calls
    from engine.engine_protocol import Unsupported

    calls = Calls([])
    directory = str(CHECKPOINTS / "gpt2")
    loaded, _ = calls.load({}, directory, "gpt2", "f32", **{"class": "GPT2LMHeadModel"})
    session, _ = calls.open_session({}, loaded["model"])
    ids = {"input_ids": torch.tensor([[5, 6, 7]])}
    operator = {"operator": "relu", "inputs": [{"element": "f32", "layout": "contiguous"}], "attributes": {}, "dtype": "f32"}
    timed = [
        (ids, {"call": "forward", "model": loaded["model"], "traced": False}),
        (ids, {"call": "step", **session}),
        ({"input.0": torch.ones(3)}, {"call": "operator", **operator}),
    ]
    for tensors, call in timed:
        reply, results = calls.time(tensors, dict(call), warmup=1, iterations=2)
        assert len(reply["milliseconds"]) == 2 and not results, call
    # The sequence has grown by the warm-up, too.
    assert calls.sessions[session["session"]][1].length == 9
    with pytest.raises(Unsupported, match="times of `load`"):
        calls.time({}, {"call": "load"}, warmup=1, iterations=1)
