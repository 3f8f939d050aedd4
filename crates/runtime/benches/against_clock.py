"""Times of `testgen bench` beside a clock outside of its process: what more calls add to the duration of the whole command.

    python3 crates/runtime/benches/against_clock.py --name bert_wide --name vit_wide -- cargo run -- bench --device cpu

The command runs twice for each subject, with few and with many calls; loading and checking are in both. It prints the difference
of the durations, the sum of the times that the additional calls have in the report, and the ratio of the sum to the difference.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", action="append", required=True, help="the spec that is measured; can be repeated")
    parser.add_argument("--few", type=int, default=20)
    parser.add_argument("--many", type=int, default=220)
    parser.add_argument("command", nargs="+", help="`testgen bench` with its options")
    arguments = parser.parse_args()
    # The first run of a command also builds the suite.
    measured([*arguments.command, "--name", arguments.name[0]], 1)
    for name in arguments.name:
        few, many = (measured([*arguments.command, "--name", name], calls) for calls in (arguments.few, arguments.many))
        duration, reported = (more - less for less, more in zip(few, many, strict=True))
        print(f"{name}: {duration:.2f} s, reported {reported:.2f} s, ratio {reported / duration:.3f}", flush=True)


def measured(command, calls):
    """The seconds that a command takes, and the seconds of the calls in its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "bench.jsonl"
        repetitions = ["--warmup", "3", "--min-time", "0", "--steps", "0", "--batch", "2", "--iterations", str(calls)]
        start = time.monotonic()
        subprocess.run([*command, *repetitions, "--report", report], check=True, capture_output=True)
        duration = time.monotonic() - start
        rows = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    return duration, sum(seconds(row, rows) for row in rows if row["times"])


def seconds(row, rows):
    """The time of a row's calls."""
    if row["measured"] not in ("forward", "operator"):
        return 0
    # The products and convolutions of a model are timed in as many forward calls of their own.
    again = row["measured"] == "forward" and any(other["measured"] == "model_call" for other in rows)
    return sum(row["times"]["milliseconds"]) / 1e3 * (2 if again else 1)


if __name__ == "__main__":
    main()
