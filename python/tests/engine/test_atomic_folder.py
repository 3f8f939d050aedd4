"""Folders of exported graphs: complete or as they were."""

import os

import pytest

from export.atomic_folder import publish


def test_files_appear_at_the_end_and_the_last_one_is_last(tmp_path, monkeypatch):
    order = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda source, target: (order.append(os.path.basename(target)), replace(source, target)))
    with publish(str(tmp_path), last="model.onnx") as folder:
        for name in ("model.onnx", "z.data"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("new")
        assert not (tmp_path / "model.onnx").exists()
    assert order == ["z.data", "model.onnx"]
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "z.data"]


def test_a_failure_leaves_the_folder_as_it_was(tmp_path):
    (tmp_path / "model.onnx").write_text("old")
    with pytest.raises(ValueError), publish(str(tmp_path), last="model.onnx") as folder:
        with open(os.path.join(folder, "model.onnx"), "w") as file:
            file.write("half")
        raise ValueError
    assert os.listdir(tmp_path) == ["model.onnx"] and (tmp_path / "model.onnx").read_text() == "old"


def test_folders_of_killed_processes_are_deleted_and_others_are_not(tmp_path):
    abandoned = tmp_path / ".testgen-1.0.tmp"
    abandoned.mkdir()
    with publish(str(tmp_path), last="model.onnx") as first:
        assert not abandoned.exists()
        with publish(str(tmp_path), last="model.onnx"):
            assert os.path.isdir(first)
