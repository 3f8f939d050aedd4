"""Checkpoints that are not exported."""

import json
import shutil
import sys
from types import ModuleType

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from fixtures.paths import CHECKPOINTS  # noqa: E402
from reference.errors import RecordError  # noqa: E402
from reference.loading import read_config  # noqa: E402


@pytest.fixture
def export(monkeypatch):
    """The function that exports. The exporter itself is not installed everywhere, and is not reached."""
    monkeypatch.setitem(sys.modules, "onnxscript", ModuleType("onnxscript"))
    from export import onnx_export

    monkeypatch.setattr(onnx_export.torch.onnx, "export", lambda *_, **__: pytest.fail("the exporter was called"))
    return onnx_export.export


def test_a_head_that_the_checkpoint_lacks_is_refused(export, tmp_path):
    """Its weights would be random, and other ones in each export."""
    directory = shutil.copytree(CHECKPOINTS / "bert", tmp_path / "bert")
    config = json.loads((directory / "config.json").read_text()) | {"architectures": ["BertForSequenceClassification"]}
    (directory / "config.json").write_text(json.dumps(config))
    with pytest.raises(RecordError, match="lacks 2 weights of `BertForSequenceClassification`"):
        export(transformers.BertForSequenceClassification, read_config(str(directory)), str(directory), str(tmp_path / "model.onnx"))
    assert not (tmp_path / "model.onnx").exists()
