"""Runs a program of this folder as a module: `python3 python MODULE ARGUMENTS...`, such as `python3 python fixtures.make bert`.

Python puts the folder that it is given in front of everything that it imports from, also in isolated mode (`-I`). So the packages beside
this file import each other by their names, and no program changes `sys.path`.
"""

import runpy
import sys
from importlib.util import find_spec


def main():
    """Runs the module that the first argument names, with the others as its arguments."""
    module = sys.argv[1] if len(sys.argv) > 1 else ""
    if not exists(module):
        sys.exit(f"error: `{module}` is not a module of this folder; `fixtures.make` is `python/fixtures/make.py`, for instance")
    del sys.argv[0]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def exists(module):
    """Whether a module has this name: `package.module`."""
    package, _, name = module.partition(".")
    return package.isidentifier() and name.isidentifier() and find_spec(package) is not None and find_spec(module) is not None


main()
