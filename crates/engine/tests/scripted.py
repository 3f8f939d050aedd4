#!/usr/bin/env python3
"""An engine for tests that answers `forward` with the outputs of the golden, and misbehaves as its first argument says.

It needs Python's standard library only. Where the argument is missing, the variable TESTGEN_SCRIPT has it.
"""

import json
import os
import signal
import struct
import subprocess
import sys
import time

import scripted_operators

PREFIX = struct.Struct("<4sIQ")
MODE = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TESTGEN_SCRIPT", "none")
DIRECTORY = {}
# The name of the implementation of attention or of experts, by model.
IMPLEMENTATION = {}
# Of the elements of a safetensors file, in the words of `struct`.
CODES = {"F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B"}
UUID = "GPU-00000000-0000-0000-0000-000000000001"


def read():
    """The header of the next request, and its tensors."""
    prefix = sys.stdin.buffer.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        # A process that ignores the end of its pipe must be ended.
        while MODE == "stays":
            time.sleep(1)
        sys.exit(0)
    _, header, tensors = PREFIX.unpack(prefix)
    return json.loads(sys.stdin.buffer.read(header)), parsed(sys.stdin.buffer.read(tensors))


def write(header, blob=b"", magic=b"TGEN", extra=0):
    """Sends a message."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    raw(PREFIX.pack(magic, len(text), len(blob) + extra) + text + blob)


def raw(data):
    """Sends bytes."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def parsed(blob):
    """Shape and values of the tensors of a safetensors file, as f32 or i64."""
    if not blob:
        return {}
    length = struct.unpack("<Q", blob[:8])[0]
    header, data, found = json.loads(blob[8 : 8 + length]), blob[8 + length :], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        found[name] = (entry["shape"], values(entry["dtype"], data[start:end]))
    return found


def values(dtype, data):
    """The elements."""
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]
    return [element for (element,) in struct.iter_unpack(f"<{CODES[dtype]}", data)]


def blob_of(tensors):
    """A safetensors file of f32."""
    return serialized({name: ("F32", shape, elements) for name, (shape, elements) in tensors.items()})


def serialized(tensors):
    """A safetensors file."""
    header, data = {}, b""
    for name, (dtype, shape, elements) in tensors.items():
        packed = struct.pack(f"<{len(elements)}{CODES[dtype]}", *elements)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def computed(request, tensors):
    """The result of `compute`."""
    shape, left = tensors["left"]
    if request["operation"] == "sum":
        return [1], [sum(left)]
    right = tensors.get("right", (shape, left))[1]
    if request["operation"] == "matrix_product":
        rows, inner = shape
        columns = len(right) // inner
        result = [sum(left[r * inner + k] * right[k * columns + c] for k in range(inner)) for r in range(rows) for c in range(columns)]
        return [rows, columns], result
    operations = {"cast": lambda a, _: a, "add": lambda a, b: a + b, "multiply": lambda a, b: a * b}
    return shape, [operations[request["operation"]](a, b) for a, b in zip(left, right, strict=True)]


def golden(model, inputs):
    """Outputs of the case with these inputs, and the hidden states of the main case."""
    with open(os.path.join(DIRECTORY[model], "golden.safetensors"), "rb") as file:
        tensors = parsed(file.read())
    for prefix in ("", *(f"case.{index}." for index in range(1, 9))):
        case = {name.removeprefix(f"{prefix}input."): value for name, value in tensors.items() if name.startswith(f"{prefix}input.")}
        if case == inputs:
            found = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(f"{prefix}output.")}
            return found | {name: value for name, value in tensors.items() if not prefix and name.startswith("trace.")}
    return {}


def faulty(outputs):
    """The outputs with the fault of this mode."""
    changed = {}
    for name, (shape, elements) in outputs.items():
        if MODE == "nan":
            elements = [float("nan"), *elements[1:]]
        elif MODE == "transposed":
            shape = shape[::-1]
        elif MODE == "wrong_shape":
            shape, elements = [len(elements) - 1], elements[1:]
        elif MODE == "zeros":
            elements = [0.0] * len(elements)
        elif MODE in ("slightly_wrong", "wrong_graph"):
            elements = [value * 1.001 for value in elements]
        changed[name] = (shape, elements)
    if MODE == "no_outputs":
        return {}
    return changed


def routed(tensors, second):
    """A router of one layer, which chooses two of three experts: for the last token of each row two are equally likely."""
    rows, columns = tensors["input_ids"][0]
    probabilities, weights = [], []
    for _ in range(rows):
        probabilities += [0.6, 0.3, 0.1] * (columns - 1) + [0.5, 0.25, 0.25 + second * 2**-25]
        weights += [0.6, 0.3, 0.0] * (columns - 1) + ([0.5, 0.0, 0.25] if second else [0.5, 0.25, 0.0])
    shape = [rows, columns, 3]
    return {"trace.router.0": (shape, probabilities), "trace.routing.0": (shape, weights)}


def forward(request, tensors):
    """Sends the outputs of a model."""
    identifier = request["id"]
    if MODE == "dies":
        print("Segmentation fault (core dumped)", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if MODE == "hangs":
        time.sleep(1000)
    if MODE == "fails":
        return write({"id": identifier, "error": {"kind": "failed", "message": "out of memory\nafter 3 tensors"}})
    if MODE == "lost":
        return write({"id": identifier, "error": {"kind": "device_lost", "message": "device-side assert triggered"}})
    if MODE == "exhausted":
        return write({"id": identifier, "error": {"kind": "out_of_memory", "message": "Tried to allocate 2.00 GiB."}})
    outputs = faulty(golden(request["model"], tensors))
    if MODE == "experts_close":
        outputs |= routed(tensors, IMPLEMENTATION.get(request["model"]) == "second")
    if IMPLEMENTATION.get(request["model"]) == "second":
        if MODE == "attention_dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        if MODE == "attention_differs":
            outputs = {name: (shape, [value * 1.001 for value in elements]) for name, (shape, elements) in outputs.items()}
        if MODE == "attention_fails":
            return write({"id": identifier, "error": {"kind": "failed", "message": "the second attention fails"}})
    if MODE in ("graph", "wrong_graph"):
        outputs = {name: value for name, value in outputs.items() if not name.startswith("trace.")}
    kind = "cuda" if MODE in ("device_lie", "uuid_lie", "placed_elsewhere") else "rocm" if MODE == "on_rocm" else "cpu"
    dtype = "bf16" if MODE == "other_dtype" else "f32"
    placements = [{"name": name, "device": kind, "dtype": dtype} for name in outputs]
    if MODE == "no_placements":
        placements = []
    blob = blob_of(outputs)
    if MODE == "cut_tensors":
        write({"id": identifier, "reply": {"placements": placements}}, blob[:-4], extra=4)
        sys.exit(1)
    if MODE == "damaged_tensors":
        blob = b"\xff" * 64
    reply = {"placements": placements}
    if MODE in ("graph", "wrong_graph"):
        shares = [("CPUExecutionProvider", 1), ("CUDAExecutionProvider", 3)]
        reply["providers"] = [{"provider": provider, "nodes": nodes, "microseconds": 5 * nodes} for provider, nodes in shares]
    write({"id": identifier, "reply": reply}, blob)
    return None


def answer(request, tensors):
    """Sends the response to one request."""
    identifier, call = request["id"], request["call"]
    if call == "hello":
        build = "cpu"
        if MODE in ("device_lie", "uuid_lie"):
            build = "cuda"
        if MODE in ("hip_fallback", "on_rocm"):
            build = "hip"
        version = 0 if MODE == "old_protocol" else 1
        reply = {"version": version, "versions": {"scripted": "1"}, "build": build}
        if MODE.startswith("attention_"):
            reply["implementations"] = {"attention": ["first", "second"]}
        if MODE == "experts_close":
            reply["implementations"] = {"experts": ["first", "second"]}
        if MODE.startswith(("operators", "repeats")):
            reply |= {"operators": ["copy"], "repeats": MODE.startswith("repeats")}
        if MODE.startswith("times"):
            reply["times"] = True
        return write({"id": identifier, "reply": reply})
    if call == "devices":
        if MODE != "lists_devices":
            return write({"id": identifier, "error": {"kind": "unsupported", "message": "it has no call `devices`"}})
        listed = {"kind": "rocm", "name": "AMD Imaginary", "pci_address": "0000:03:00.0", "architecture": "gfx950", "total_memory": 1 << 38}
        return write({"id": identifier, "reply": {"devices": [listed, {"kind": "rocm", "name": "without facts"}]}})
    if call == "open":
        device = {"kind": "cpu", "name": "cpu"}
        if MODE == "on_rocm":
            device = {"kind": "rocm", "name": "AMD Imaginary", **{key: request["device"].get(key) for key in ("uuid", "pci_address")}}
        if MODE in ("device_lie", "build_lie"):
            device = {"kind": "cuda", "name": "NVIDIA Imaginary", **{key: request["device"].get(key) for key in ("uuid", "pci_address")}}
        if MODE == "uuid_lie":
            device = {"kind": "cuda", "name": "NVIDIA Imaginary", "uuid": UUID}
        why = {"why": "its HIP 6.4 sees no GPU"} if MODE == "hip_fallback" else {}
        return write({"id": identifier, "reply": {"device": device} | why})
    if call == "compute":
        if request["dtype"] != "f32":
            if MODE == "half_dies":
                os.kill(os.getpid(), signal.SIGSEGV)
            return write({"id": identifier, "error": {"kind": "failed", "message": "only f32"}})
        shape, elements = computed(request, tensors)
        # One wrong element at the end, as of a kernel that forgets the tail.
        if MODE.removeprefix("wrong_") == request["operation"]:
            elements[-1] += 1
        if MODE == "wrong_sums" and request["operation"] == "add":
            elements = [value + 1 for value in elements]
        return write({"id": identifier, "reply": {}}, blob_of({"result": (shape, elements)}))
    if call in ("read_result", "drop_result"):
        return scripted_operators.answer_kept(MODE, request, write, serialized)
    if call == "operator":
        return scripted_operators.answer(MODE, request, tensors, write, serialized)
    if call == "load":
        if MODE == "cannot_load":
            return write({"id": identifier, "error": {"kind": "unsupported", "message": "no class of this name"}})
        DIRECTORY[identifier] = request["directory"]
        IMPLEMENTATION[identifier] = request.get("implementation", {"name": None})["name"]
        if MODE == "attention_one" and IMPLEMENTATION[identifier] == "second":
            return write({"id": identifier, "error": {"kind": "unsupported", "message": "this class has no second attention"}})
        # The implementation that models have where none is requested.
        if MODE == "attention_own_refused" and IMPLEMENTATION[identifier] is None:
            return write({"id": identifier, "error": {"kind": "unsupported", "message": "this class does not have the default attention"}})
        reply = {"model": identifier, "read": ["a"], "unused": ["b"] if MODE == "unused" else []}
        if MODE in ("graph", "wrong_graph"):
            reply["lacks"] = {"hidden_states": "a graph has no hidden states", "tensors": "weights are folded"}
        return write({"id": identifier, "reply": reply})
    if call == "forward":
        return forward(request, tensors)
    if call == "time":
        count = request["iterations"] - (MODE == "times_missing")
        first = 0.0 if MODE == "times_zero" else 1.5
        if MODE != "times_hurried":
            time.sleep(request["min_time_ms"] / 1e3)
        # The name of the timed call, the warm-up and the minimum time are seen in the times.
        others = [len(request["timed"]["call"]) + request["warmup"] + request["min_time_ms"]] * (count - 1)
        return write({"id": identifier, "reply": {"milliseconds": [first, *others]}})
    return write({"id": identifier, "reply": {"in_use": 0, "session": 1}})


def misbehave_at_start():
    """Faults that do not depend on a request."""
    if MODE == "exits":
        print("ModuleNotFoundError: No module named 'torch'", file=sys.stderr)
        sys.exit(3)
    if MODE == "prints":
        raw(b"Loading checkpoint shards: 100%\n")
    if MODE == "flood":
        for _ in range(20000):
            print("x" * 1000, file=sys.stderr)
        print("the last line of the flood", file=sys.stderr, flush=True)
    if MODE == "never_reads":
        while True:
            time.sleep(1)
    if MODE == "grandchild":
        # It holds the pipes open after this process has ended.
        child = subprocess.Popen(["sleep", "1000"])
        print(f"the child is {child.pid}", file=sys.stderr, flush=True)
        sys.exit(4)
    if MODE == "closes":
        os.close(1)
        while True:
            time.sleep(1)


def misbehave_at(request):
    """Whether this request was answered wrongly."""
    identifier = request["id"]
    wrong = {
        "silent": lambda: time.sleep(1000),
        # Later than any limit of a call that is not answered, also on a machine that was paused.
        "late": lambda: time.sleep(120),
        "magic": lambda: write({"id": identifier, "reply": {}}, magic=b"GTEN"),
        "not_json": lambda: write(b"{"),
        "other_id": lambda: write({"id": identifier + 7, "reply": {}}),
        "no_reply": lambda: write({"id": identifier}),
        "both": lambda: write({"id": identifier, "reply": {}, "error": {"kind": "failed", "message": "?"}}),
        "other_fields": lambda: write({"id": identifier, "reply": {"surprise": 1}}),
        "huge_header": lambda: raw(PREFIX.pack(b"TGEN", 2**32 - 1, 0)),
        "huge_tensors": lambda: raw(PREFIX.pack(b"TGEN", 2, 2**63) + b"{}"),
        "cut_header": lambda: (raw(PREFIX.pack(b"TGEN", 100, 0) + b"{"), sys.exit(0)),
        "nul_bytes": lambda: raw(b"\0" * 100),
    }
    if MODE in wrong:
        wrong[MODE]()
        return MODE != "late"
    return False


def main():
    """Answers requests."""
    misbehave_at_start()
    while True:
        request, tensors = read()
        if not misbehave_at(request):
            answer(request, tensors)
            if MODE == "twice":
                answer(request, tensors)


if __name__ == "__main__":
    main()
