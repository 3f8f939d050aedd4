"""Files of a folder that appear completely or not at all, also when the process is killed: part of `testgen export`."""

import contextlib
import fcntl
import itertools
import os
import shutil

PREFIX, SUFFIX = ".testgen-", ".tmp"
COUNT = itertools.count()


@contextlib.contextmanager
def publish(folder, last):
    """A temporary folder whose files move into `folder` at the end of the block, the file `last` after all others: where it exists, the
    others do, too. The folder is locked while its process runs; those without a lock, which killed processes left, are deleted."""
    os.makedirs(folder, exist_ok=True)
    delete_abandoned(folder)
    temporary = os.path.join(folder, f"{PREFIX}{os.getpid()}.{next(COUNT)}{SUFFIX}")
    os.mkdir(temporary)
    handle = os.open(temporary, os.O_RDONLY)
    try:
        lock(handle)
        yield temporary
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(folder, last))
        for name in sorted(os.listdir(temporary), key=lambda name: name == last):
            os.replace(os.path.join(temporary, name), os.path.join(folder, name))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(handle)


def delete_abandoned(folder):
    """Deletes the temporary folders of processes that no longer run."""
    for entry in os.scandir(folder):
        if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX) and entry.is_dir(follow_symlinks=False):
            handle = os.open(entry.path, os.O_RDONLY)
            if lock(handle):
                shutil.rmtree(entry.path, ignore_errors=True)
            os.close(handle)


def lock(handle):
    """Whether the folder could be locked."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
