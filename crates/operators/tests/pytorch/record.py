"""Computes calls of operators with PyTorch in float64: the results that the reference of `testgen-operators` is compared with.

    cargo test -p testgen-operators --features cases --test pytorch -- --ignored    writes target/operator_calls.json
    PYTHONPATH=python python3 crates/operators/tests/pytorch/record.py              reads it and writes results.json beside this file
"""

import json
from pathlib import Path

import torch

from engine import torch_collectives, torch_operators

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
CALLS = ROOT / "target" / "operator_calls.json"
TYPES = {"f32": torch.float64, "i32": torch.int64, "bool": torch.bool}



def tensor(given: dict) -> torch.Tensor:
    """The tensor of an input; numbers that JSON does not have are texts."""
    values = [float(value) for value in given["values"]]
    return torch.tensor(values, dtype=torch.float64).reshape(given["shape"]).to(TYPES[given["element"]])


def plain(result: torch.Tensor) -> dict:
    """Shape and numbers of a result."""
    flat = result.to(torch.float64).flatten().tolist()
    finite = torch.isfinite(result.to(torch.float64)).flatten().tolist()
    names = {"nan": "NaN", "inf": "inf", "-inf": "-inf"}
    values = [value if ok else names[str(value)] for value, ok in zip(flat, finite, strict=True)]
    return {"shape": list(result.shape), "values": values}


def compute(call: dict, collectives: torch_collectives.Collectives) -> torch.Tensor:
    """The result of a call. The fused attention of torch 2.15 on the CPU returns 0 for a query with NaN, so its parts are computed."""
    inputs = [tensor(given["tensor"]) for given in call["inputs"]]
    if call["operator"] in torch_collectives.OPERATORS:
        return collectives.compute(call["operator"], inputs, call["attributes"], "cpu")
    return torch_operators.compute(call["operator"], inputs, call["attributes"], math=True)


def main() -> None:
    """Records the result of every call, by its name."""
    calls = json.loads(CALLS.read_text())
    collectives = torch_collectives.Collectives()
    results = {name: plain(compute(call, collectives)) for name, call in calls.items()}
    collectives.close()
    lines = [f"  {json.dumps(name)}: {json.dumps(result)}" for name, result in results.items()]
    head = f'  "torch": {json.dumps(torch.__version__)}'
    (HERE / "results.json").write_text("{\n" + ",\n".join([head, *lines]) + "\n}\n")
    print(f"{len(results)} results")


if __name__ == "__main__":
    main()
