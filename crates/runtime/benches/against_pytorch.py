"""Load, forward and decode of real shapes against PyTorch, in alternation on the same machine.

    python3 crates/runtime/benches/against_pytorch.py [--rounds 5] [--threads 2] [--json FILE]
    python3 crates/runtime/benches/against_pytorch.py --device cuda --engine native --engine native/vendor [--binary FILE]

On the CPU PyTorch runs eager attention, on CUDA sdpa. On both sides a call ends when all outputs are on the host.

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
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Checkpoint, what is timed, batch, tokens, runs, precision.
JOBS = {
    "cpu": [
        ("bert-base", "forward", 1, 128, 10, "f32"),
        ("bert-base", "forward", 8, 128, 4, "f32"),
        ("gpt2-small", "forward", 1, 128, 10, "f32"),
        ("gpt2-small", "decode", 1, 128, 32, "f32"),
    ],
    "cuda": [
        *[("bert-base", "forward", batch, 128, 30, precision)
          for precision in ("f32", "tf32", "f16") for batch in (1, 8, 32)],
        ("llama-1b", "forward", 1, 512, 5, "bf16"),
        ("llama-1b", "decode", 1, 512, 64, "bf16"),
    ],
}
TYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
CLASSES = {"bert-base": BertModel, "gpt2-small": GPT2LMHeadModel, "llama-1b": LlamaForCausalLM}


def configuration(name):
    """The shapes of bert-base-uncased, gpt2 and Llama-3.2-1B."""
    if name == "llama-1b":
        return LlamaConfig(vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
                           num_attention_heads=32, num_key_value_heads=8, head_dim=64, tie_word_embeddings=True,
                           max_position_embeddings=131072)
    return BertConfig() if name == "bert-base" else GPT2Config()


def make_checkpoints(directory, device):
    """Random weights."""
    for name, precision in sorted({(job[0], job[5]) for job in JOBS[device]}):
        if (directory / name / "config.json").is_file():
            continue
        torch.manual_seed(0)
        # In the type of a Llama's own checkpoint; the others are saved in f32.
        torch.set_default_dtype(torch.bfloat16 if precision == "bf16" else torch.float32)
        CLASSES[name](configuration(name)).save_pretrained(directory / name)
        torch.set_default_dtype(torch.float32)


def bench_binary():
    """The newest build of the Rust benchmark."""
    # The whole workspace, because a part of it would unify other features and build burn again.
    command = ["cargo", "bench", "--workspace", "--bench", "forward", "--no-run", "--message-format", "json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    artifacts = [json.loads(line) for line in lines if line.startswith("{")]
    return [a["executable"] for a in artifacts if a.get("target", {}).get("name") == "forward" and a.get("executable")][-1]


def ours(binary, checkpoint, job, engine, arguments):
    """One run of the Rust process."""
    _, what, batch, tokens, runs, precision = job
    options = ["--batch", str(batch), "--tokens", str(tokens), "--runs", str(runs),
               "--device", arguments.device, "--engine", engine, "--precision", precision]
    env = dict(os.environ, RAYON_NUM_THREADS=str(arguments.threads))
    result = subprocess.run([binary, checkpoint, what, *options], check=True, capture_output=True, text=True, env=env)
    return json.loads(result.stdout)


def pytorch(checkpoint, job, device):
    """The same with transformers."""
    name, what, batch, tokens, runs, precision = job
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    start = time.perf_counter()
    attention = "eager" if device == "cpu" else "sdpa"
    model = CLASSES[name].from_pretrained(checkpoint, attn_implementation=attention, dtype=TYPES[precision])
    model = model.eval().to(device)
    load_ms = (time.perf_counter() - start) * 1e3
    ids = torch.arange(batch * tokens).mul(7919).remainder(1000).add(100).reshape(batch, tokens).to(device)
    with torch.inference_mode():
        to_host(model(input_ids=ids))
        first_ms = (time.perf_counter() - start) * 1e3
        times = decode(model, ids, runs) if what == "decode" else forward(model, ids, runs)
    return {"load_ms": load_ms, "first_ms": first_ms, "times_ms": times}


def to_host(output):
    """Copies the outputs of the Rust side to the host, which also waits for them."""
    for name in ("last_hidden_state", "pooler_output", "logits"):
        if getattr(output, name, None) is not None:
            getattr(output, name).float().cpu()


def forward(model, ids, runs):
    times = []
    for run in range(runs + 3):
        start = time.perf_counter()
        to_host(model(input_ids=ids))
        if run >= 3:
            times.append((time.perf_counter() - start) * 1e3)
    return times


def decode(model, ids, runs):
    cache = model(input_ids=ids, use_cache=True).past_key_values
    step, times = ids[:, :1], []
    for _ in range(runs):
        start = time.perf_counter()
        output = model(input_ids=step, past_key_values=cache, use_cache=True)
        to_host(output)
        cache = output.past_key_values
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", choices=sorted(JOBS), default="cpu")
    parser.add_argument("--engine", action="append", help="native, native/vendor; can be given several times")
    parser.add_argument("--job", help="only the jobs whose description has this text")
    parser.add_argument("--binary", help="the built benchmark; built with cargo if it is not named")
    parser.add_argument("--checkpoints", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    directory = arguments.checkpoints or pathlib.Path(tempfile.mkdtemp())
    make_checkpoints(directory, arguments.device)
    binary = arguments.binary or bench_binary()
    jobs = [job for job in JOBS[arguments.device] if (arguments.job or "") in " ".join(map(str, job))]
    rows = [row for job in jobs for row in measured(binary, directory, job, arguments)]
    report = {"torch": torch.__version__, "transformers": transformers.__version__, "threads": arguments.threads,
              "rounds": arguments.rounds, "rows": rows}
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


def measured(binary, directory, job, arguments):
    """The medians of one job over all rounds, a row for each engine, printed as they are known."""
    checkpoint = str(directory / job[0])
    engines = arguments.engine or ["native"]
    mine, theirs = {engine: [] for engine in engines}, []
    for _ in range(arguments.rounds):
        for engine in engines:
            mine[engine].append(ours(binary, checkpoint, job, engine, arguments))
        theirs.append(pytorch(checkpoint, job, arguments.device))
    weights = sum(file.stat().st_size for file in (directory / job[0]).glob("*.safetensors"))
    return [row(job, engine, mine[engine], theirs, weights) for engine in engines]


def row(job, engine, mine, theirs, weights):
    name, what, batch, tokens, _, precision = job
    median = lambda results: statistics.median(t for result in results for t in result["times_ms"])  # noqa: E731
    loads, firsts = ([statistics.median(result[key] for result in results) for results in (mine, theirs)]
                     for key in ("load_ms", "first_ms"))
    result = {
        "model": name, "engine": engine, "what": what, "batch": batch, "tokens": tokens, "precision": precision,
        "ours_ms": median(mine), "pytorch_ms": median(theirs), "ratio": median(mine) / median(theirs),
        "load_ms": loads[0], "pytorch_load_ms": loads[1], "load_ratio": loads[0] / loads[1],
        "first_ms": firsts[0], "pytorch_first_ms": firsts[1], "first_ratio": firsts[0] / firsts[1],
        **{to: mine[0][key] and mine[0][key] / weights  # none on a GPU
           for to, key in (("load_peak_to_weights", "load_peak_bytes"), ("peak_to_weights", "peak_bytes"))},
    }
    peak = result["peak_to_weights"]
    print(f"{name} {what} batch {batch} tokens {tokens} {precision} {engine}: {result['ours_ms']:.2f} ms, PyTorch "
          f"{result['pytorch_ms']:.2f} ms, ratio {result['ratio']:.2f}; load {loads[0]:.0f} ms, from_pretrained {loads[1]:.0f} ms, "
          f"ratio {result['load_ratio']:.2f}; load and first answer {firsts[0]:.0f} ms, PyTorch {firsts[1]:.0f} ms, "
          f"ratio {result['first_ratio']:.2f}" + (f"; peak {peak:.2f} x weights" if peak else ""), flush=True)
    return result


if __name__ == "__main__":
    main()
