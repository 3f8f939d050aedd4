"""Copies the advisories of the packages in Cargo.lock: python tests/supply_chain/update.py DATABASE

DATABASE is a clone of https://github.com/RustSec/advisory-db.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = """# Advisories

A copy of the RustSec advisory database (https://github.com/RustSec/advisory-db, commit {commit}), limited to the packages
in Cargo.lock, which `packages` lists. Public domain (CC0-1.0), except advisories whose `license` field says CC-BY-4.0; their `url`
names the source. Written by `tests/supply_chain/update.py`.
"""


def main():
    """Replaces the copy."""
    database, copy = Path(sys.argv[1]), HERE / "advisories"
    lock = (HERE.parent.parent / "Cargo.lock").read_text(encoding="utf-8")
    packages = sorted({name for name, rest in re.findall(r'name = "(.*)"\n((?:.+\n)*)', lock) if "source = " in rest})
    shutil.rmtree(copy, ignore_errors=True)
    for name in packages:
        for advisory in sorted((database / "crates" / name).glob("RUSTSEC-*.md")):
            (copy / "crates" / name).mkdir(parents=True, exist_ok=True)
            shutil.copy(advisory, copy / "crates" / name)
    (copy / "packages").write_text("".join(f"{name}\n" for name in packages), encoding="utf-8")
    commit = subprocess.run(["git", "-C", database, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    (copy / "README.md").write_text(README.format(commit=commit), encoding="utf-8")


if __name__ == "__main__":
    main()
