"""Times of repeated calls in the engine `torch`, on a device that only counts."""

from types import SimpleNamespace

import pytest

from engine import engine_times
from fixtures.paths import CHECKPOINTS, REPOSITORY


def test_the_device_is_idle_before_and_after_each_call():
    events = []
    device = SimpleNamespace(synchronize=lambda: events.append("idle"))
    times = engine_times.measured(device, lambda: events.append("call"), warmup=2, iterations=3, min_time_ms=0)
    assert len(times) == 3 and all(time >= 0 for time in times)
    assert events == ["idle", "call", "idle"] * 5


@pytest.mark.parametrize(
    ("seconds", "min_time_ms", "calls"),
    [
        # 250 ms of warm-up, and 250 ms that are measured.
        (0.0625, 250, [4, 4]),
        # Two calls of the warm-up take less than the time, three measured ones do not.
        (0.125, 300, [3, 3]),
        # Slow calls are as many as without a time.
        (4.0, 300, [2, 3]),
        (0.0625, 0, [2, 3]),
        # The size of the reply is limited.
        (0.0625, 10**9, [10_000, 10_000]),
    ],
)
def test_calls_are_repeated_by_number_and_for_a_time(seconds, min_time_ms, calls):
    clock = [0.0, 0]

    def work():
        clock[0] += seconds
        clock[1] += 1

    device = SimpleNamespace(synchronize=lambda: None)
    times = engine_times.measured(device, work, warmup=2, iterations=3, min_time_ms=min_time_ms, now=lambda: clock[0])
    assert [clock[1] - len(times), len(times)] == calls
    assert set(times) == {seconds * 1e3}


def test_the_limit_of_calls_is_that_of_testgen():
    text = (REPOSITORY / "crates/types/src/bench_request.rs").read_text()
    assert f"MOST_TIMES: usize = {engine_times.MOST:_};" in text


def test_a_call_that_fails_has_no_time():
    def fail():
        raise ValueError("the device failed")

    with pytest.raises(ValueError, match="the device failed"):
        engine_times.measured(SimpleNamespace(synchronize=lambda: None), fail, warmup=0, iterations=1, min_time_ms=0)


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
        reply, results = calls.time(tensors, dict(call), warmup=1, iterations=2, min_time_ms=0)
        assert len(reply["milliseconds"]) == 2 and not results, call
    # The sequence has grown by the warm-up, too.
    assert calls.sessions[session["session"]][1].length == 9
    with pytest.raises(Unsupported, match="times of `load`"):
        calls.time({}, {"call": "load"}, warmup=1, iterations=1, min_time_ms=0)
