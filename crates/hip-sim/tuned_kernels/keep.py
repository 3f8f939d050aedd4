"""Stores the autotuner's choices of a simulated run: python crates/hip-sim/tuned_kernels/keep.py CACHE ARCHITECTURE

Choices that are stored already are not changed; to start over, remove crates/hip-sim/tuned_kernels/ARCHITECTURE first. The
times of the candidates are dropped: on the simulator they are meaningless, and they contain megabytes of kernel sources.

For products with fewer than 64 rows or columns, kernels that compute a tile without matrix units are replaced by the naive
kernel: most of the tile would be empty, and the simulator computes all of it, one thread after the other.
"""

import argparse
import json
import pathlib

NAIVE = 0
"""The index of the naive product in burn's list of candidates."""
TILED = (5, 6, 7, 8)
"""The indices of tiled products without matrix units: SimpleUnit and DoubleUnit, each with large and small tiles."""
TILE = 64
"""The number of rows and columns below which a tile is mostly empty."""


def main():
    """Merges the choices of one cache into crates/hip-sim/tuned_kernels/ARCHITECTURE."""
    parser = argparse.ArgumentParser(description="store the autotuner's choices of a simulated run")
    parser.add_argument("cache", metavar="CACHE", type=pathlib.Path, help="the value of TESTGEN_CACHE in the simulated run")
    parser.add_argument("architecture", metavar="ARCHITECTURE", help="the simulated device, for instance gfx1100")
    arguments = parser.parse_args()
    folder, architecture = arguments.cache / "autotune", arguments.architecture
    stored = pathlib.Path(__file__).parent / architecture
    roots = sorted(folder.glob(f"sim-{architecture}-*"))
    if not roots:
        parser.error(f"`{folder}` has no choices for `{architecture}`; simulate it with TESTGEN_CACHE={arguments.cache}")
    for root in roots:
        for log in sorted(root.rglob("*.log")):
            path = stored / log.relative_to(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            choices = read(path) if path.exists() else {}
            # The stored ones take precedence, so that a second run does not change them.
            choices = read(log) | choices
            path.write_text("".join(choices[key] + "\n" for key in sorted(choices)))
            print(f"{path}: {len(choices)} choices")


def read(log):
    """The entries of a log of cubecl's autotuner, by key."""
    lines = {}
    for line in log.read_bytes().split(b"\n"):
        # The log may be padded with NUL bytes.
        line = line.strip(b"\0 \r")
        if line:
            entry = json.loads(line)
            entry["value"]["results"] = []
            if wastes_a_tile(entry):
                entry["value"]["fastest_index"] = NAIVE
            lines[json.dumps(entry["key"], sort_keys=True)] = json.dumps(entry, separators=(",", ":"))
    return lines


def wastes_a_tile(entry):
    """Whether a product was assigned a tiled kernel whose tiles it does not fill."""
    size = entry["key"]["key"].get("definition", {})
    return "m" in size and min(size["m"], size["n"]) < TILE and entry["value"]["fastest_index"] in TILED


if __name__ == "__main__":
    main()
