"""Random numbers that are the same in Python and in Rust: Philox4x64-10 under the SHA-256 of a text, as crates/checkpoints has them."""

import hashlib

import numpy

# The mean and the standard deviation of the sum of four integers from 0 to 65535.
CENTRE = 131070
SUM_STD = numpy.float32(((2**32 - 1) / 3) ** 0.5)


def words(text, count):
    """The first words of 64 bits that belong to a text."""
    key = numpy.frombuffer(hashlib.sha256(text.encode()).digest()[:16], dtype="<u8")
    return numpy.random.Philox(key=key).random_raw(count)


def nearly_normal(text, count, mean, std):
    """Values in float32 with a mean and a standard deviation; none is farther than 3.47 standard deviations from the mean."""
    found = words(text, count)
    total = sum((found >> numpy.uint64(shift) & numpy.uint64(0xFFFF)).astype(numpy.int32) for shift in (0, 16, 32, 48))
    scale = numpy.float32(std) / SUM_STD
    return numpy.float32(mean) + scale * (total - CENTRE).astype(numpy.float32)
