"""Exports a checkpoint as an ONNX graph through torch: the Python of `testgen export`.

    python -I DIRECTORY export.onnx_export [--into-checkpoint] [--force] CACHE CHECKPOINT...

Prints the path of each graph. Exit codes: 0 exported, or exported before; 1 one cannot be exported; 3 a Python package is missing.
"""

import argparse
import inspect
import logging
import os
import sys
import warnings

try:
    import numpy
    import onnx
    import onnxruntime
    import onnxscript  # noqa: F401
    import torch
    import transformers
except ImportError as missing:
    packages = "torch transformers safetensors numpy onnx onnxscript onnxruntime"
    print(f"error: Python package `{missing.name}` is missing; pip install {packages}", file=sys.stderr)
    sys.exit(3)

from engine.onnx_account import EXPORTER_KEY, UNUSED_KEY, fingerprint
from engine.onnx_calls import arguments
from engine.onnx_digest import digest
from engine.onnx_session import is_not_implemented
from export.atomic_folder import publish
from reference.errors import RecordError, first_line
from reference.families import FAMILIES
from reference.loading import class_of, load_complete, quiet_and_repeatable, read_config
from reference.registry import kind

Dim = torch.export.Dim
# Weights above this size are in a file of their own, because the format ends at 2 GiB.
EXTERNAL = 1 << 30
# Errors of torch contain whole programs.
LONGEST = 300


def main():
    """Reads the command line, exports, and turns expected failures into one line and an exit code."""
    parser = argparse.ArgumentParser(description="export a checkpoint as an ONNX graph")
    parser.add_argument("cache", help="folder of exported graphs")
    parser.add_argument("checkpoints", nargs="+", help="directories as `save_pretrained` writes them")
    parser.add_argument("--into-checkpoint", action="store_true", help="write onnx/model.onnx of the checkpoint")
    parser.add_argument("--force", action="store_true", help="replace an exported graph")
    arguments = parser.parse_args()
    # Libraries print their progress to standard output, which has the paths only.
    paths = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Their warnings are about their own internals.
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    quiet_and_repeatable()
    codes = [0]
    for checkpoint in arguments.checkpoints:
        try:
            print(exported(checkpoint, arguments), file=paths, flush=True)
        except ImportError as missing:
            codes.append(3)
            print(f"error: `{checkpoint}`: {first_line(missing)}", file=sys.stderr)
        except (RecordError, OSError) as error:
            codes.append(1)
            print(f"error: `{checkpoint}`: {error}", file=sys.stderr)
    return max(codes)


def exported(checkpoint, arguments):
    """The path of the graph, exported unless it exists."""
    config = read_config(checkpoint)
    if isinstance(config, dict):
        raise RecordError("models of diffusers cannot be exported")
    model_class = class_of(config)
    if arguments.into_checkpoint:
        target = os.path.join(checkpoint, "onnx")
    else:
        target = os.path.join(arguments.cache, digest(checkpoint), model_class.__name__)
    path = os.path.join(target, "model.onnx")
    if not os.path.exists(path) or arguments.force:
        with publish(target, last="model.onnx") as directory:
            export(model_class, config, checkpoint, os.path.join(directory, "model.onnx"))
    return path


def export(model_class, config, directory, path):
    """Writes the graph of the whole model without a cache, and checks it."""
    # With the attention of the goldens: other implementations differ at padding, and T5's `sdpa` cannot be exported.
    model = load_complete(model_class, directory, torch.float32).eval()
    family = FAMILIES[kind(config)]
    # The case with most inputs, because position ids come with left padding only. Sides of an image that are equal would remain so.
    cases = family.cases(directory, config, numpy.random.default_rng(0), 0)[0]
    case = max(cases, key=lambda case: (len(case), not has_square_image(case)))
    module = Positional(model, list(case), getattr(family, "IGNORED", ())).eval()
    values = tuple(case.values())
    try:
        with torch.no_grad():
            outputs = list(module(*values))
        any_size = len({value.shape[2:] for case in cases for value in case.values() if value.ndim == 4}) > 1
        shapes = tuple(dynamic_shape(name, value, any_size) for name, value in case.items())
        # Not optimised: every weight remains as it is in the checkpoint, so that the engine finds it by its values.
        options = {"input_names": list(case), "output_names": outputs, "dynamic_shapes": (shapes,)}
        program = torch.onnx.export(module, values, dynamo=True, optimize=False, verbose=False, **options)
    except Exception as error:
        why = " ".join(str(cause(error)).split())[:LONGEST] or type(error).__name__
        raise RecordError(f"torch {torch.__version__} cannot export `{model_class.__name__}`: {why}") from error
    program.model.metadata_props[EXPORTER_KEY] = f"torch {torch.__version__}, transformers {transformers.__version__}"
    size = sum(weight.numel() * 4 for weight in model.parameters())
    program.model.metadata_props[UNUSED_KEY] = " ".join(fingerprint(value).hex() for value in unused(program.exported_program))
    program.save(path, external_data=size > EXTERNAL)
    onnx.checker.check_model(path)
    confirm_sizes(path, cases)


def unused(program):
    """The values of the weights without a use in the program."""
    names = program.graph_signature.inputs_to_parameters
    idle = [names[node.name] for node in program.graph.nodes if node.op == "placeholder" and node.name in names and not node.users]
    return [program.state_dict[name].detach().float().numpy() for name in idle]


def confirm_sizes(path, cases):
    """Runs the graph with every case and with single rows: a program can contain the sizes of its example. Checks compare the numbers."""
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:
        # A GPU's provider may have the operation; the engine reports it where not.
        if is_not_implemented(error):
            return
        raise RecordError(f"ONNX Runtime refuses the exported graph: {str(error)[:LONGEST]}") from error
    inputs = {value.name: value for value in session.get_inputs()}
    for case in cases:
        for rows in (slice(None), slice(0, 1)):
            given = {name: value[rows].numpy() for name, value in case.items()}
            try:
                session.run(None, arguments(inputs, given))
            except Exception as error:
                shapes = {name: list(value.shape) for name, value in given.items()}
                why = f"the graph that torch {torch.__version__} exports cannot compute {shapes}"
                raise RecordError(f"{why}: {str(error)[:LONGEST]}") from error


def has_square_image(case):
    """Whether an image of the case is square."""
    return any(value.ndim == 4 and value.shape[2] == value.shape[3] for value in case.values())


def cause(error):
    """The first error, without the advice that the exporter adds to it."""
    return error if error.__cause__ is None else cause(error.__cause__)


class Positional(torch.nn.Module):
    """A model that takes its inputs by position and returns its tensors by name."""

    def __init__(self, model, names, ignored):
        super().__init__()
        self.model, self.names, self.ignored = model, names, ignored
        self.fixed = {"return_dict": True}
        if "use_cache" in inspect.signature(model.forward).parameters:
            self.fixed["use_cache"] = False

    def forward(self, *values):
        """The outputs of the model."""
        result = self.model(**dict(zip(self.names, values, strict=True)), **self.fixed)
        return {name: value for name, value in result.items() if isinstance(value, torch.Tensor) and name not in self.ignored}


def dynamic_shape(name, value, any_size):
    """The dimensions that checks vary: the batch, the length of a sequence, and the sides of an image where cases have several."""
    sides = range(value.ndim - 2, value.ndim) if any_size and (value.ndim == 4 or name == "pixel_mask") else ()
    length = (1,) if value.ndim == 2 else ()
    return dict.fromkeys([0, *length, *sides], Dim.DYNAMIC)


if __name__ == "__main__":
    sys.exit(main())
