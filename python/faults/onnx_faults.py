"""Seeds faults into exported graphs and runs the checks of the engine `onnxruntime` on them: every fault must be red.

    python3 python faults.onnx_faults target/debug/deps/conformance-...

The Python needs torch, transformers, onnx, onnxscript and onnxruntime. `cargo test --workspace --test conformance --no-run` builds
the suite and prints its path. The script exports the fixtures `bert` and `llama`, then runs their checks with the engine `onnxruntime`
once without a fault and once for each fault. It prints a table; the exit code is 1 if a fault is not red.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
from onnx import helper, numpy_helper

REPOSITORY = Path(__file__).parents[2]


def weight(name, change):
    """A fault that changes a constant."""

    def seed(graph):
        tensor = next(tensor for tensor in graph.initializer if tensor.name.endswith(name))
        values = numpy_helper.to_array(tensor).copy()
        tensor.CopyFrom(numpy_helper.from_array(change(values).astype(values.dtype), tensor.name))

    return seed


def attribute(operation, name, value):
    """A fault that changes an attribute of the first node of an operation."""

    def seed(graph):
        node = next(node for node in graph.node if node.op_type == operation)
        kept = [entry for entry in node.attribute if entry.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(name, value)])

    return seed


def operation(before, after):
    """A fault that computes another operation."""

    def seed(graph):
        next(node for node in graph.node if node.op_type == before).op_type = after

    return seed


def constant(old, new):
    """A fault that changes every scalar constant of a value."""

    def seed(graph):
        found = [entry.t for node in graph.node if node.op_type == "Constant" for entry in node.attribute if entry.HasField("t")]
        matching = [tensor for tensor in found if numpy_helper.to_array(tensor).size == 1 and is_near(tensor, old)]
        assert matching, f"no constant {old}"
        for tensor in matching:
            tensor.CopyFrom(numpy_helper.from_array(numpy.full(list(tensor.dims), new, numpy.float32), tensor.name))

    return seed


def is_near(tensor, value):
    """Whether a constant has a value, which f32 rounds."""
    return numpy.isclose(float(numpy_helper.to_array(tensor).reshape(())), value, rtol=1e-5, atol=0)


def replaced_input(name, value):
    """A fault that ignores the content of an input."""

    def seed(graph):
        for node in graph.node:
            node.input[:] = ["seeded" if used == name else used for used in node.input]
        one = numpy_helper.from_array(numpy.array([value]), "seeded_value")
        nodes = [
            helper.make_node("Sub", [name, name], ["seeded_zeros"]),
            helper.make_node("Constant", [], ["seeded_constant"], value=one),
            helper.make_node("Add", ["seeded_zeros", "seeded_constant"], ["seeded"]),
        ]
        for node in reversed(nodes):
            graph.node.insert(0, node)

    return seed


def swapped(one, other):
    """A fault that uses two matrices in the place of each other."""

    def seed(graph):
        names = {tensor.name: tensor for tensor in graph.initializer}
        first, second = (next(tensor for name, tensor in names.items() if name.endswith(end)) for end in (one, other))
        first.name, second.name = second.name, first.name

    return seed


def changed_at(index, by):
    """Adds to one element."""

    def change(values):
        values[index] += by
        return values

    return change


def without_head(values):
    """The rows of one head are zero."""
    values[:8] = 0
    return values


FAULTS = {
    "bert": {
        "eps of one norm": attribute("LayerNormalization", "epsilon", 1e-3),
        "tanh form of GELU": attribute("Gelu", "approximate", "tanh"),
        "one bias": weight("layer.0.attention.self.query.bias", changed_at(0, 0.05)),
        "one weight": weight("layer.1.output.dense.weight", changed_at((0, 0), 0.05)),
        "a transposed matrix": weight("layer.0.attention.self.query.weight", lambda values: values.T.copy()),
        "the scale of attention": weight("layer.1.attention.self.key.weight", lambda values: values * 1.01),
        "one head": weight("layer.0.attention.self.value.weight", without_head),
        "positions off by one": weight("position_embeddings.weight", lambda values: numpy.roll(values, 1, 0)),
        "mask ignored": replaced_input("attention_mask", 1),
        "token types ignored": replaced_input("token_type_ids", 0),
    },
    "llama": {
        "eps of all norms": constant(1e-6, 1e-3),
        "base of the rotary embedding": weight("inv_freq", lambda values: values**1.1),
        "causal mask off by one": operation("LessOrEqual", "Less"),
        "position ids ignored": replaced_input("position_ids", 0),
        "gate and up swapped": swapped("layers.0.mlp.gate_proj.weight", "layers.0.mlp.up_proj.weight"),
        "one weight of the head": weight("lm_head.weight", changed_at((3, 5), 0.05)),
    },
}


def export(graphs, name):
    """The path of the graph of a fixture."""
    command = [sys.executable, "-I", REPOSITORY / "python", "export.onnx_export", graphs, REPOSITORY / "fixtures" / name]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def run(suite, graphs, name):
    """The entries of a run."""
    report = graphs / "report.jsonl"
    generated = REPOSITORY / "generated"
    engine = {"TESTGEN_ENGINES": "onnxruntime", "TESTGEN_PYTHON": sys.executable, "TESTGEN_ONNX": graphs}
    environment = os.environ | engine | {"CARGO_MANIFEST_DIR": generated, "TESTGEN_REPORT": report}
    subprocess.run([suite, f"::{name}::cpu"], cwd=generated, env=environment, capture_output=True, check=False)
    return [json.loads(line) for line in report.read_text().splitlines()]


def main():
    """Runs every fault."""
    suite = Path(sys.argv[1]).absolute()
    missed, graphs = 0, REPOSITORY / "target/testgen/onnx"
    for name, faults in FAULTS.items():
        path = export(graphs, name)
        for fault, seed in ({"none": lambda _: None} | faults).items():
            with tempfile.TemporaryDirectory() as directory:
                model = onnx.load(path)
                seed(model.graph)
                target = Path(directory) / path.parent.parent.name / path.parent.name
                target.mkdir(parents=True)
                onnx.save(model, target / "model.onnx")
                entries = run(suite, Path(directory), name)
            failed = sorted({entry["check"] for entry in entries if entry["status"] == "fail"})
            passed = sum(entry["status"] == "pass" for entry in entries)
            missed += bool(failed) != (fault != "none") or passed == 0
            print(f"| {name} | {fault} | {len(failed)} | {', '.join(failed)} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
