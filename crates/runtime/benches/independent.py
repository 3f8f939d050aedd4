"""Forward calls of a report of `testgen bench` measured again by `torch.utils.benchmark`, and the ratio of the medians.

    testgen bench --name bert --device cpu --engine torch --report bench.jsonl
    python3 crates/runtime/benches/independent.py bench.jsonl [--within 0.05] [--fixtures fixtures/published]

It shares no code with the engine `torch`: transformers makes the class of each subject from the configuration of its fixture, with
random weights, on which no time depends, and the timer of PyTorch calls it on random ids of the same sizes. As in `bench`, a call begins
with its ids on the host and ends when the device is idle. Exit code 1 if a median is further off than `--within`.
"""

import argparse
import json
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from safetensors import safe_open
from torch.utils import benchmark

TYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def rows(path):
    """The timed forward calls of the engine `torch`, of models that read ids alone."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    timed = [entry for entry in entries if entry["status"] == "timed" and entry["measured"] == "forward"]
    return [entry for entry in timed if entry["tokens"] is not None and (entry["engine"] or "").startswith("torch")]


def made(entry, fixtures, device):
    """The class that the golden names, in the precision of the entry."""
    directory = next(path.parent for path in sorted(fixtures.glob(f"**/{entry['subject']}/golden.safetensors")))
    with safe_open(directory / "golden.safetensors", "pt") as golden:
        name = golden.metadata()["model_class"]
    config = transformers.AutoConfig.from_pretrained(directory)
    config._attn_implementation = "eager" if "eager" in entry["engine"] else "sdpa"
    with torch.device(device):
        model = getattr(transformers, name)(config)
    return model.eval().to(TYPES[entry["precision"]])


def median_ms(entry, fixtures, device):
    """The median of `torch.utils.benchmark`, in milliseconds."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = entry["precision"] == "tf32"
    model = made(entry, fixtures, device)
    vocabulary = model.config.get_text_config().vocab_size
    ids = torch.randint(1, vocabulary, (entry["batch"], entry["tokens"]))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids
    if hasattr(model.config, "use_cache"):
        inputs["use_cache"] = False

    def call():
        model(**{name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in inputs.items()})
        if device == "cuda":
            torch.cuda.synchronize()

    with torch.no_grad():
        # Without `num_threads` the timer uses one.
        timer = benchmark.Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())
        timer.timeit(3)
        return timer.blocked_autorange(min_run_time=1).median * 1e3


def main():
    """Prints a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--within", type=float, default=0.05)
    parser.add_argument("--fixtures", type=pathlib.Path, default="fixtures")
    arguments = parser.parse_args()
    found, outside = rows(arguments.report), 0
    for entry in found:
        device = "cpu" if entry["device"] == "cpu" else "cuda"
        own, reported = median_ms(entry, arguments.fixtures, device), entry["times"]["median"]
        outside += abs(reported / own - 1) > arguments.within
        print(
            f"{entry['subject']} {entry['device']} {entry['engine']} {entry['precision']} {entry['batch']} x {entry['tokens']}: "
            f"testgen {reported:.4f} ms, torch.utils.benchmark {own:.4f} ms, ratio {reported / own:.3f}",
            flush=True,
        )
    print(f"{len(found)} rows, {outside} further off than {arguments.within:.0%}; torch {torch.__version__}")
    return 1 if outside or not found else 0


if __name__ == "__main__":
    sys.exit(main())
