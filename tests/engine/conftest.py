"""The environment of every test."""

import sys

import pytest

from stub_onnxruntime import MODULES


@pytest.fixture(autouse=True)
def without_stub():
    """Other tests see the modules that were there before."""
    before = {name: sys.modules.get(name) for name in MODULES}
    yield
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module
