"""What cannot be recorded, in one line for a user: part of the recorder `goldens.py`."""

import contextlib


class RecordError(Exception):
    """The checkpoint cannot be recorded; the message says why, and where possible what to do."""


class CloseCall(RecordError):
    """With these inputs a choice that jumps is too close to be recorded; with others it may not be."""


class NeedsPackage(ImportError):
    """A Python package is missing, or another version of one; `install` is the command that mends it."""

    def __init__(self, message, install):
        super().__init__(message)
        self.install = install


@contextlib.contextmanager
def refusal(what):
    """Turns whatever a library raises about a user's files into one line; a missing package stays an ImportError."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:
        raise RecordError(f"{what}: {first_line(error)}") from error


def first_line(error):
    """The first line of an error's text: messages of transformers can be pages long."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
