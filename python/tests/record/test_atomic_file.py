"""Files of the recorder after kill -9, a full disk and two processes at once: each is the old or the new one."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from record.atomic_file import TemporaryFile, replace_file

# The working directory of the writer, from which it imports.
PYTHON = Path(__file__).parents[2]
# Kills; TESTGEN_KILLS=200 for more.
KILLS = int(os.environ.get("TESTGEN_KILLS", "8"))
SIZE = 4_000_000
# Seconds after which what has not happened never happens.
WATCHDOG = 300
WRITER = f"""
import sys
from record.atomic_file import replace_file
while True:
    for letter in sys.argv[2]:
        replace_file(sys.argv[1], letter.encode() * {SIZE})
        print(flush=True)
"""


def start(path, letters):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path, letters], stdout=subprocess.PIPE, cwd=PYTHON)
    assert writer.stdout.readline() == b"\n"
    return writer


def wait_until(condition):
    end = time.monotonic() + WATCHDOG
    while not condition():
        assert time.monotonic() < end, "it never happens"


def stop(writer):
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    writer.stdout.close()


def assert_whole(path, letters):
    content = path.read_bytes()
    assert content in [letter.encode() * SIZE for letter in letters], f"{len(content)} bytes"


def test_a_killed_writer_leaves_the_old_or_the_new_file_and_the_next_one_cleans_up(tmp_path):
    path, moments, left = tmp_path / "golden", random.Random(19), 0
    # How often a writer is killed while it writes depends on the machine: more kills until it happened.
    for kill in range(20 * KILLS):
        if kill >= KILLS and left > 0:
            break
        writer = start(path, "ab")
        # Every other kill aims at the part in which the temporary file exists.
        if kill % 2:
            wait_until(lambda: len(list(tmp_path.iterdir())) > 1)
        time.sleep(moments.random() * (0.02 if kill % 2 == 0 else 0.001))
        stop(writer)
        left += len(list(tmp_path.iterdir())) - 1
        assert_whole(path, "ab")
    assert left > 0, "no writer was killed while it wrote"
    replace_file(path, b"next")
    assert [entry.name for entry in tmp_path.iterdir()] == ["golden"]
    assert path.read_bytes() == b"next"


def test_writers_at_once_do_not_delete_each_others_files(tmp_path):
    path = tmp_path / "golden"
    writers = [start(path, letter) for letter in "abc"]
    for _ in range(20):
        assert_whole(path, "abc")
        for writer in writers:
            assert writer.stdout.readline() == b"\n", "it failed"
    for writer in writers:
        stop(writer)
    assert_whole(path, "abc")


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "golden"
    replace_file(path, b"old")
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            replace_file(path, b"n" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["golden"]


def test_a_file_that_is_not_complete_is_deleted(tmp_path):
    path = tmp_path / "golden"
    replace_file(path, b"old")
    with pytest.raises(ValueError, match="stop"), TemporaryFile(path, b"new") as file:
        assert Path(file.path).read_bytes() == b"new"
        raise ValueError("stop")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["golden"]
