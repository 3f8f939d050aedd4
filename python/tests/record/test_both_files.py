"""The golden and the answers of one recording: both are new, or both are as they were."""

import os
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from record import goldens

FILES = ("golden.safetensors", "answers.json")


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """`record_both` of a folder that has both files; the result is the content of each afterwards."""
    for name in FILES:
        (tmp_path / name).write_text("old")

    def record(answers):
        monkeypatch.setattr(goldens, "prepare", lambda directory, *_: (os.path.join(directory, FILES[0]), b"new"))
        monkeypatch.setattr(goldens.answers, "prepare", answers)
        goldens.record_both(SimpleNamespace(checkpoint=str(tmp_path), seed=0, force=True, noise_samples=1, inputs=None))

    def contents():
        return {path.name: path.read_text() for path in tmp_path.iterdir()}

    return SimpleNamespace(record=record, contents=contents, folder=tmp_path)


def test_both_files_are_replaced(recorded, capsys):
    recorded.record(lambda *_, golden: (b"new", {}))
    assert recorded.contents() == dict.fromkeys(FILES, "new")
    assert capsys.readouterr().out.splitlines() == [str(recorded.folder / name) for name in FILES]


def test_answers_of_a_golden_without_requests_are_removed(recorded):
    recorded.record(lambda *_, golden: (None, {"text_generation": "the checkpoint has no tokenizer"}))
    assert recorded.contents() == {FILES[0]: "new"}


def test_an_error_in_the_answers_leaves_both_as_they_were(recorded):
    def fails(*_, golden):
        with open(golden, "rb") as file:
            assert file.read() == b"new", "the answers read the new golden"
        raise ValueError("a pipeline failed")

    with pytest.raises(ValueError, match="a pipeline failed"):
        recorded.record(fails)
    assert recorded.contents() == dict.fromkeys(FILES, "old")


@pytest.mark.parametrize("answered", [b"new", None])
def test_a_process_that_ends_between_the_files_leaves_no_golden(recorded, monkeypatch, answered):
    class Killed(BaseException):
        """As if the process ended here."""

    def killed(self):
        raise Killed

    replaced = goldens.TemporaryFile.persist
    monkeypatch.setattr(goldens.TemporaryFile, "persist", lambda file: killed(file) if file.target.endswith(FILES[0]) else replaced(file))
    with pytest.raises(Killed):
        recorded.record(lambda *_, golden: (answered, {}))
    # Without a golden it is recorded again, without --force.
    assert recorded.contents() == ({FILES[1]: "new"} if answered else {})
