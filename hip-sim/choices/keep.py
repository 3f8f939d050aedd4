"""Keeps what burn's autotuner chose on a simulated device: python hip-sim/choices/keep.py CACHE ARCHITECTURE

CACHE is a folder that was TESTGEN_CACHE of simulated runs. Choices that are kept already stay. What each candidate took on the
simulator is left out: it says nothing, and the texts of kernels in it are megabytes.
"""

import json
import pathlib
import sys


def main():
    """Merges the choices of one cache into hip-sim/choices/ARCHITECTURE."""
    cache, architecture = pathlib.Path(sys.argv[1]), sys.argv[2]
    kept = pathlib.Path(__file__).parent / architecture
    for root in sorted((cache / "autotune").glob(f"sim-{architecture}-*")):
        for log in sorted(root.rglob("*.log")):
            path = kept / log.relative_to(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            choices = read(path) if path.exists() else {}
            choices = read(log) | choices
            path.write_text("".join(choices[key] + "\n" for key in sorted(choices)))
            print(f"{path}: {len(choices)} choices")


def read(log):
    """The lines of a log of cubecl's autotuner by their keys."""
    lines = {}
    for line in log.read_bytes().split(b"\n"):
        line = line.strip(b"\0 \r")
        if line:
            record = json.loads(line)
            record["value"]["results"] = []
            lines[json.dumps(record["key"], sort_keys=True)] = json.dumps(record, separators=(",", ":"))
    return lines


if __name__ == "__main__":
    main()
