"""The recorder's copy of the registry has every field that the recorder reads."""

import json
import pathlib
import re

PYTHON = pathlib.Path(__file__).parents[2]


def test_fields_that_are_read_are_there():
    lines = json.loads((PYTHON / "reference/registry.json").read_text())
    sources = {path.name: path.read_text() for folder in ("record", "reference") for path in (PYTHON / folder).rglob("*.py")}
    # `entry(config).field` and `ENTRIES[name].field`
    pattern = re.compile(r"(?:entry\([^()]*(?:\([^()]*\))?[^()]*\)|ENTRIES\[[^\]]*\])\.(\w+)")
    read = {(name, field) for name, source in sources.items() for field in pattern.findall(source)}
    assert read, "the recorder reads the registry"
    for model_type, line in lines.items():
        missing = sorted((name, field) for name, field in read if field not in line)
        assert not missing, f"{model_type} has no {missing}"
