"""Errors of the recorder, each one line for the user."""

import contextlib


class RecordError(Exception):
    """The checkpoint cannot be recorded; the message says why, and where possible what to do."""


class CloseCall(RecordError):
    """A discontinuous choice is too close to be recorded with these inputs; other inputs may work."""


class NeedsPackage(ImportError):
    """A Python package is missing, or has the wrong version; `install` is the command that installs it."""

    def __init__(self, message, install):
        super().__init__(message)
        self.install = install


@contextlib.contextmanager
def user_error(what):
    """Turns any exception of a library about a user's files into one line; a missing package stays an ImportError."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:
        raise RecordError(f"{what}: {first_line(error)}") from error


def first_line(error):
    """The first line of an error's text: messages of transformers can be pages long."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
