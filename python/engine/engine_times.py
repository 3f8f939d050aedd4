"""Times of repeated calls: part of the engine `torch`."""

import time


def measured(device, work, warmup, iterations):
    """The milliseconds of each call of `work` after the warm-up. The device is idle before and after each."""
    for _ in range(warmup):
        work()
    return [milliseconds(device, work) for _ in range(iterations)]


def milliseconds(device, work):
    """The milliseconds of one call, until the device has computed it."""
    device.synchronize()
    start = time.perf_counter()
    # Kept until the clock is read: freeing it is not part of the call.
    result = work()
    device.synchronize()
    elapsed = (time.perf_counter() - start) * 1e3
    del result
    return elapsed
