"""Modules that are imported again, so that they see the fake of a library that a test puts in its place."""

import sys
from contextlib import contextmanager


def forget(name):
    """The next import runs the module again. Its package keeps it as an attribute, which `from package import name` would return."""
    sys.modules.pop(name, None)
    package, _, child = name.rpartition(".")
    if child in vars(sys.modules.get(package, object)):
        delattr(sys.modules[package], child)


@contextmanager
def restored(names):
    """Afterwards the modules are those that were there before."""
    before = {name: sys.modules.get(name) for name in names}
    yield
    for name, module in before.items():
        forget(name)
        if module is not None:
            remember(name, module)


def remember(name, module):
    """Puts a module where an import finds it."""
    sys.modules[name] = module
    package, _, child = name.rpartition(".")
    if package in sys.modules:
        setattr(sys.modules[package], child, module)
