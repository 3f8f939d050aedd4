"""Times of repeated calls: part of the engine `torch`."""

import time

# From so many calls on, the minimum time adds none: `Repetitions::MOST_TIMES` of testgen.
MOST = 10_000


def measured(device, work, warmup, iterations, min_time_ms, now=time.perf_counter):
    """The milliseconds of each call of `work` after the warm-up. The device is idle before and after each.

    The warm-up, and then the measured calls, are at least so many, and go on until the minimum time has passed.
    """
    # The device is idle after each call of the warm-up, too: it would compute a queue of calls long after the minimum time.
    repeated(device, work, warmup, min_time_ms, now)
    return repeated(device, work, iterations, min_time_ms, now)


def repeated(device, work, fewest, min_time_ms, now):
    """The milliseconds of calls, which are repeated by number and for a time."""
    times, start = [], now()
    while len(times) < fewest or (len(times) < MOST and (now() - start) * 1e3 < min_time_ms):
        times.append(milliseconds(device, work, now))
    return times


def milliseconds(device, work, now=time.perf_counter):
    """The milliseconds of one call, until the device has computed it."""
    device.synchronize()
    start = now()
    # Kept until the clock is read: freeing it is not part of the call.
    result = work()
    device.synchronize()
    elapsed = (now() - start) * 1e3
    del result
    return elapsed
