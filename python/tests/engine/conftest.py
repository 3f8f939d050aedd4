"""The environment of every test."""

import pytest

from fresh_modules import restored
from stub_onnxruntime import MODULES


@pytest.fixture(autouse=True)
def without_stub():
    """Other tests see the modules that were there before."""
    with restored(MODULES):
        yield
