"""Files that are written completely or not at all, also when the process is killed.

A temporary file beside the target is renamed when it is complete. It is locked while its process runs: the next write in that
directory deletes the unlocked ones, which killed processes left. The CLI does the same (`crates/base/src/atomic_file.rs`).
"""

import contextlib
import fcntl
import itertools
import os
import stat

PREFIX = ".testgen-"
SUFFIX = ".tmp"
COUNT = itertools.count()


class TemporaryFile:
    """A file with `content` that becomes `target` with `persist`; without it, the end of the `with` block deletes it."""

    def __init__(self, target, content):
        self.target = target
        directory = os.path.dirname(target) or "."
        delete_abandoned(directory)
        while True:
            self.path = os.path.join(directory, f"{PREFIX}{os.getpid()}.{next(COUNT)}{SUFFIX}")
            with contextlib.suppress(FileExistsError):
                self.file = open(self.path, "xb")  # noqa: SIM115 (open until the end of the `with` block)
                lock(self.file, fcntl.LOCK_EX)
                # Another process may have deleted it between its creation and the lock.
                if is_same(self.path, self.file):
                    break
                self.file.close()
        try:
            self.file.write(content)
            self.file.flush()
        except OSError:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def persist(self):
        """Renames it to its target."""
        os.replace(self.path, self.target)

    def __exit__(self, *_exception):
        with contextlib.suppress(FileNotFoundError):
            if is_same(self.path, self.file):
                os.remove(self.path)
        with contextlib.suppress(OSError):
            self.file.close()


def replace_file(path, content):
    """Writes a file completely, or leaves the old one."""
    with TemporaryFile(path, content) as file:
        file.persist()


def remove(path):
    """Deletes a file if it exists."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def lock(file, kind):
    """Whether the file could be locked. Where locks are not supported, no process obtains one, and nothing is deleted."""
    try:
        fcntl.flock(file, kind)
    except OSError:
        return False
    return True


def delete_abandoned(directory):
    """Deletes the temporary files of processes that no longer run."""
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if not name.startswith(PREFIX) or not name.endswith(SUFFIX):
            continue
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with open(path, "rb") as file:
                if lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) and is_same(path, file):
                    os.remove(path)


def is_same(path, file):
    """Whether the open file is still the one at `path`."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
