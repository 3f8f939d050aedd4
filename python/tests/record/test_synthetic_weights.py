"""Synthetic weights, computed with numpy, are those of the Rust crate, whose tests read the same digests."""

import hashlib
import json

import numpy
import pytest

from fixtures.paths import REPOSITORY
from synthetic_weights import rounded, safetensors_of

RECIPES = REPOSITORY / "crates/checkpoints/src/tests/recipes"
DIGESTS = json.loads((RECIPES / "digests.json").read_text())


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_digests(name):
    recipe = json.loads((RECIPES / f"{name}.json").read_text())
    assert hashlib.sha256(safetensors_of(recipe)).hexdigest() == DIGESTS[name]


def test_every_recipe_has_a_digest():
    assert {path.stem for path in RECIPES.glob("*.json")} - {"digests"} == set(DIGESTS)


def test_the_generator_is_that_of_random123():
    """The vector of all ones of `philox4x64 10` in `kat_vectors`; numpy counts before it computes."""
    ones = 2**64 - 1
    counter = numpy.array([ones - 1, ones, ones, ones], dtype=numpy.uint64)
    words = numpy.random.Philox(key=numpy.array([ones, ones], dtype=numpy.uint64), counter=counter).random_raw(4)
    assert [f"{word:016x}" for word in words] == ["87b092c3013fe90b", "438c3c67be8d0224", "9cc7d7c69cd777b6", "a09caebf594f0ba0"]


def test_ties_are_rounded_to_even():
    """Halfway between two values of bfloat16: 1 + 2^-8 down to 1, 1 + 3 * 2^-8 up to 1 + 2^-6."""
    found = rounded(numpy.array([1 + 2**-8, 1 + 3 * 2**-8], dtype=numpy.float32), "BF16")
    assert [f"{bits:04x}" for bits in found] == ["3f80", "3f82"]
