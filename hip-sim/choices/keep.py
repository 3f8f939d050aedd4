"""Keeps what burn's autotuner chose on a simulated device: python hip-sim/choices/keep.py CACHE ARCHITECTURE

Choices that are kept already stay; remove hip-sim/choices/ARCHITECTURE first to begin anew. What each candidate took on the
simulator is left out: it says nothing, and the texts of kernels in it are megabytes.

Products with fewer than 64 rows or columns get the naive kernel in place of one that computes a tile without matrix units: most
of the tile would be empty, and a simulator computes it all, one thread after the other.
"""

import argparse
import json
import pathlib

NAIVE = 0
"""The place of the naive product in burn's list of candidates."""
TILED = (5, 6, 7, 8)
"""Those of products in tiles without matrix units: SimpleUnit and DoubleUnit, of large and of small tiles."""
TILE = 64
"""The rows and columns below which a tile is mostly empty."""


def main():
    """Merges the choices of one cache into hip-sim/choices/ARCHITECTURE."""
    parser = argparse.ArgumentParser(description="keep what burn's autotuner chose on a simulated device")
    parser.add_argument("cache", metavar="CACHE", type=pathlib.Path, help="what was TESTGEN_CACHE of simulated runs")
    parser.add_argument("architecture", metavar="ARCHITECTURE", help="the simulated device, as gfx1100")
    arguments = parser.parse_args()
    folder, architecture = arguments.cache / "autotune", arguments.architecture
    kept = pathlib.Path(__file__).parent / architecture
    roots = sorted(folder.glob(f"sim-{architecture}-*"))
    if not roots:
        parser.error(f"`{folder}` has no choices for `{architecture}`; simulate it with TESTGEN_CACHE set to that cache")
    for root in roots:
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
            if wastes_a_tile(record):
                record["value"]["fastest_index"] = NAIVE
            lines[json.dumps(record["key"], sort_keys=True)] = json.dumps(record, separators=(",", ":"))
    return lines


def wastes_a_tile(record):
    """Whether a product was given tiles that it does not fill."""
    size = record["key"]["key"].get("definition", {})
    return "m" in size and min(size["m"], size["n"]) < TILE and record["value"]["fastest_index"] in TILED


if __name__ == "__main__":
    main()
