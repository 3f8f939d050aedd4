"""The facts about packages that `testgen doctor` reads, with fakes of builds that are not installed here."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace

from doctor import probe

PROBE = Path(probe.__file__)


def test_packages_are_read_without_importing_them(monkeypatch):
    names = ["torch", "Safetensors", "onnxruntime_gpu", "onnxruntime", "onnxruntime-extensions", "pip"]
    found = [SimpleNamespace(metadata={"Name": name}, version="1.2") for name in names]
    monkeypatch.setattr(metadata, "distributions", lambda: found)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    # Tests of models may have imported it.
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    installed = probe.installed()
    assert sorted(installed["packages"]) == ["onnxruntime", "safetensors", "torch"]
    assert installed["onnxruntime_distributions"] == ["onnxruntime", "onnxruntime-gpu"]
    assert "torch" not in sys.modules


def test_a_hip_build_has_its_architectures_without_features(monkeypatch):
    torch = ModuleType("torch")
    torch.version = SimpleNamespace(hip="6.4.43482", cuda=None)
    torch.cuda = SimpleNamespace(is_available=lambda: True, get_arch_list=lambda: ["gfx942", "gfx90a:xnack-", "gfx90a:xnack+"])
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert probe.torch() == {"hip": "6.4.43482", "cuda": None, "architectures": ["gfx90a", "gfx942"]}
    torch.cuda.is_available = lambda: False
    assert probe.torch()["architectures"] == []


def test_onnxruntime_has_its_providers(monkeypatch):
    onnxruntime = ModuleType("onnxruntime")
    onnxruntime.get_available_providers = lambda: ["MIGraphXExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setitem(sys.modules, "onnxruntime", onnxruntime)
    assert probe.onnxruntime() == {"providers": ["MIGraphXExecutionProvider", "CPUExecutionProvider"], "build": None}


def test_the_last_line_is_json():
    printed = subprocess.run([sys.executable, "-I", "-c", PROBE.read_text()], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed.splitlines()[-1])["version"].count(".") == 2
