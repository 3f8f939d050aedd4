"""Load, forward and decode of real shapes against PyTorch eager, in alternation on the same machine.

    python3 crates/runtime/benches/against_pytorch.py [--rounds 5] [--threads 2] [--json FILE]

Needs torch and transformers. The checkpoints have random weights: speed does not depend on them. Each round runs the Rust
process, then PyTorch, so that a machine that slows down affects both; the ratio is that of the medians over all rounds.
`from_pretrained` maps the file and reads no weight before the first forward, so load and first answer are also timed together.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

ROOT = pathlib.Path(__file__).resolve().parents[3]
JOBS = [
    ("bert-base", "forward", 1, 128, 10),
    ("bert-base", "forward", 8, 128, 4),
    ("gpt2-small", "forward", 1, 128, 10),
    ("gpt2-small", "decode", 1, 128, 32),
]


def make_checkpoints(directory):
    """Random weights in the shapes of bert-base-uncased and gpt2."""
    torch.manual_seed(0)
    for name, model in (("bert-base", BertModel(BertConfig())), ("gpt2-small", GPT2LMHeadModel(GPT2Config()))):
        if not (directory / name / "config.json").is_file():
            model.save_pretrained(directory / name)


def bench_binary():
    """The newest build of the Rust benchmark."""
    # The whole workspace, because a part of it would unify other features and build burn again.
    command = ["cargo", "bench", "--workspace", "--bench", "forward", "--no-run", "--message-format", "json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    artifacts = [json.loads(line) for line in lines if line.startswith("{")]
    return [a["executable"] for a in artifacts if a.get("target", {}).get("name") == "forward" and a.get("executable")][-1]


def ours(binary, checkpoint, what, batch, tokens, runs, threads):
    """One run of the Rust process."""
    options = ["--batch", str(batch), "--tokens", str(tokens), "--runs", str(runs)]
    env = dict(os.environ, RAYON_NUM_THREADS=str(threads))
    result = subprocess.run([binary, checkpoint, what, *options], check=True, capture_output=True, text=True, env=env)
    return json.loads(result.stdout)


def pytorch(checkpoint, what, batch, tokens, runs):
    """The same with transformers, eager attention, float32."""
    start = time.perf_counter()
    kind = BertModel if "bert" in checkpoint else GPT2LMHeadModel
    model = kind.from_pretrained(checkpoint, attn_implementation="eager").eval()
    load_ms = (time.perf_counter() - start) * 1e3
    ids = torch.arange(batch * tokens).mul(7919).remainder(1000).add(100).reshape(batch, tokens)
    with torch.inference_mode():
        model(input_ids=ids)
        first_ms = (time.perf_counter() - start) * 1e3
        times = decode(model, ids, runs) if what == "decode" else forward(model, ids, runs)
    return {"load_ms": load_ms, "first_ms": first_ms, "times_ms": times}


def forward(model, ids, runs):
    times = []
    for run in range(runs + 3):
        start = time.perf_counter()
        model(input_ids=ids)
        if run >= 3:
            times.append((time.perf_counter() - start) * 1e3)
    return times


def decode(model, ids, runs):
    cache = model(input_ids=ids, use_cache=True).past_key_values
    step, times = ids[:, :1], []
    for _ in range(runs):
        start = time.perf_counter()
        cache = model(input_ids=step, past_key_values=cache, use_cache=True).past_key_values
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--checkpoints", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    directory = arguments.checkpoints or pathlib.Path(tempfile.mkdtemp())
    make_checkpoints(directory)
    binary = bench_binary()
    rows = [row(binary, directory, job, arguments) for job in JOBS]
    report = {"torch": torch.__version__, "transformers": transformers.__version__, "threads": arguments.threads,
              "rounds": arguments.rounds, "rows": rows}
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


def row(binary, directory, job, arguments):
    """The medians of one job over all rounds, printed as they are known."""
    name, what, batch, tokens, runs = job
    checkpoint = str(directory / name)
    weights = sum(file.stat().st_size for file in (directory / name).glob("*.safetensors"))
    mine, theirs = [], []
    for _ in range(arguments.rounds):
        mine.append(ours(binary, checkpoint, what, batch, tokens, runs, arguments.threads))
        theirs.append(pytorch(checkpoint, what, batch, tokens, runs))
    median = lambda results: statistics.median(t for result in results for t in result["times_ms"])  # noqa: E731
    loads, firsts = ([statistics.median(result[key] for result in results) for results in (mine, theirs)]
                     for key in ("load_ms", "first_ms"))
    result = {
        "model": name, "what": what, "batch": batch, "tokens": tokens,
        "ours_ms": median(mine), "pytorch_ms": median(theirs), "ratio": median(mine) / median(theirs),
        "load_ms": loads[0], "pytorch_load_ms": loads[1], "load_ratio": loads[0] / loads[1],
        "first_ms": firsts[0], "pytorch_first_ms": firsts[1], "first_ratio": firsts[0] / firsts[1],
        "load_peak_to_weights": mine[0]["load_peak_bytes"] / weights, "peak_to_weights": mine[0]["peak_bytes"] / weights,
    }
    print(f"{name} {what} batch {batch} tokens {tokens}: {result['ours_ms']:.2f} ms, PyTorch {result['pytorch_ms']:.2f} ms, "
          f"ratio {result['ratio']:.2f}; load {loads[0]:.0f} ms, from_pretrained {loads[1]:.0f} ms, "
          f"ratio {result['load_ratio']:.2f}; load and first answer {firsts[0]:.0f} ms, PyTorch {firsts[1]:.0f} ms, "
          f"ratio {result['first_ratio']:.2f}; peak {result['peak_to_weights']:.2f} x weights", flush=True)
    return result


if __name__ == "__main__":
    main()
