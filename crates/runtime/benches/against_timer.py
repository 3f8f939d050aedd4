"""Times of `testgen bench --engine torch` beside `torch.utils.benchmark`, in another process on the same machine.

    testgen bench --engine torch --name 'bert*' --report target/testgen/bench.jsonl
    python3 crates/runtime/benches/against_timer.py target/testgen/bench.jsonl

For each forward call, and for each case of the operators below, it prints both medians in milliseconds and their ratio. Models have other
weights of the same configuration: speed does not depend on them. Processes that start small work differ by up to a factor of two; work
that keeps the device busy differs by less.
"""

import argparse
import inspect
import json
import pathlib
import re
import statistics

import torch
import transformers
import yaml
from safetensors.torch import load_file
from torch.nn import functional as F
from torch.utils.benchmark import Timer

ROOT = pathlib.Path(__file__).resolve().parents[3]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# Operators of tensors alone; cases of a variant have arguments, and are left out.
NAMES = ("abs", "add", "cos", "div", "exp", "log", "matmul", "mul", "neg", "sigmoid", "sin", "sqrt", "sub", "tanh")
OPERATORS = {
    **{name: getattr(torch, name) for name in NAMES},
    **{name: getattr(F, name) for name in ("relu", "relu6", "silu")},
    "add_relu": lambda a, b: F.relu(a + b),
    "batch_matmul": torch.bmm,
    "matmul_bias_gelu": lambda x, weight, bias: F.gelu(x @ weight + bias),
    "matmul_bias_relu": lambda x, weight, bias: F.relu(x @ weight + bias),
    "max_binary": torch.max,
    "min_binary": torch.min,
    "mul_add": lambda a, b, c: a * b + c,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1, help="of the timer for each row")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    # PyTorch convolves in TF32 by default; f32 of the engine is f32.
    torch.backends.cudnn.allow_tf32 = False
    ratios = {}
    for line in arguments.report.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        call = work(row) if row["engine"] == "torch" and row["status"] == "timed" else None
        if call is None:
            continue
        ours, timer = row["times"]["median"], median(call, row["device"], arguments.seconds)
        ratios.setdefault((row["measured"], row["precision"]), []).append(ours / timer)
        size = row["case"] or f"{row['batch']} x {row['tokens']}"
        print(f"{row['subject']} {row['measured']} {row['precision']} {size}: {ours:.4f} / {timer:.4f} = {ours / timer:.3f}", flush=True)
    for (measured, precision), found in sorted(ratios.items()):
        mean = statistics.geometric_mean(found)
        print(f"{measured} {precision}: {len(found)} rows, geometric mean {mean:.3f}, {min(found):.3f} to {max(found):.3f}")


def work(row):
    """The measured call, or None for another kind of row."""
    if row["measured"] == "forward":
        return forward(row)
    return operator(row) if row["measured"] == "operator" else None


def forward(row):
    """A forward call, from inputs on the host to outputs on the device, as the engine `torch` calls it."""
    config, folder = subject(row["subject"])
    device, dtype = torch_name(row), TYPES[row["precision"]]
    model = getattr(transformers, config.architectures[0])(config).to(device, dtype).eval()
    recorded = {name[6:]: value for name, value in load_file(folder / "golden.safetensors").items() if name.startswith("input.")}
    # What else depends on the length is computed by the model.
    names = [name for name in recorded if not row["tokens"] or name.endswith(("input_ids", "attention_mask"))]
    inputs = {name: resized(name, recorded[name], row) for name in names}
    arguments = {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {}
    return lambda: model(**{name: value.to(device) for name, value in inputs.items()}, **arguments)


def subject(name):
    """The configuration of a model, and the folder of its golden: of a fixture, or of a spec whose weights are computed."""
    if (ROOT / "fixtures" / name).is_dir():
        return transformers.AutoConfig.from_pretrained(ROOT / "fixtures" / name), ROOT / "fixtures" / name
    [spec] = (ROOT / "model_specs").glob(f"*/{name}.yaml")
    config = yaml.safe_load(spec.read_text(encoding="utf-8"))["checkpoint"]["synthetic"]["config"]
    return transformers.AutoConfig.for_model(**config), spec.with_suffix("")


def resized(name, value, row):
    """An input of the row's batch and length."""
    if not row["tokens"]:
        rows = value[torch.arange(row["batch"]) % len(value)]
        return rows.to(TYPES[row["precision"]]) if rows.is_floating_point() else rows
    shape = (row["batch"], row["tokens"])
    return torch.ones(shape, dtype=torch.int64) if name.endswith("mask") else torch.randint(5, int(value.max()), shape)


def operator(row):
    """An operator of tensors on the device."""
    found = re.fullmatch(r"(\w+)((?: \[[\d, ]+\])+)", row["case"])
    if found is None or found[1] not in OPERATORS:
        return None
    shapes = [json.loads(shape) for shape in re.findall(r"\[.*?\]", found[2])]
    # Positive, which logarithms and roots need.
    inputs = [(torch.rand(shape) + 0.5).to(torch_name(row), TYPES[row["precision"]]) for shape in shapes]
    return lambda: OPERATORS[found[1]](*inputs)


def torch_name(row):
    """The device as PyTorch names it."""
    return "cpu" if row["device"] == "cpu" else "cuda"


def median(call, device, seconds):
    """The median of calls until the device is idle, in milliseconds."""
    statement = "call()" if device == "cpu" else "call(); synchronize()"
    timer = Timer(statement, globals={"call": call, "synchronize": torch.cuda.synchronize}, num_threads=torch.get_num_threads())
    # The first calls are slower.
    timer.blocked_autorange(min_run_time=seconds / 4)
    return timer.blocked_autorange(min_run_time=seconds).median * 1e3


if __name__ == "__main__":
    main()
