"""Records `golden.safetensors` and `answers.json` of a Hugging Face checkpoint directory, with transformers as the reference.

    python3 python record.goldens CHECKPOINT_DIR [--seed N] [--noise-samples N] [--inputs FILE] [--force]
    python3 python record.goldens CHECKPOINT_DIR --answers
    python3 python record.goldens CHECKPOINT_DIR --recipe SEED [--quantise SCHEME]

The reference is the checkpoint as it is READ BACK from disk, on the CPU, in float32, with eager attention. The noise of the
reference itself is recorded with the outputs, so that tolerances are derived from measurements. The same seed and the same
checkpoint produce the same bytes: no dates, no paths. Exit codes: 0 recorded, 1 cannot be recorded, 3 a Python package is missing or
of another version than the model type needs.
"""

import argparse
import json
import os
import re
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# With AMX, a grouped convolution of wav2vec2 in bfloat16 is wrong in torch 2.15 (fixtures/README.md), and its noise would be, too.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

try:
    import numpy
    import safetensors  # noqa: F401
    import torch
    import transformers  # noqa: F401
except ImportError as missing:
    print(f"error: Python package `{missing.name}` is missing; pip install torch transformers safetensors numpy", file=sys.stderr)
    sys.exit(3)

from record import answers, any_cases, any_generation, config_effects, drawn_inputs, progress, recipe, summary
from record.atomic_file import TemporaryFile, remove, replace_file
from record.given_inputs import read_inputs
from record.golden_file import safetensors_of
from record.noise import DTYPES, noise_of
from record.noise_samples import NOISE_SAMPLES
from record.vocabulary import digest_of
from reference.errors import RecordError, first_line, user_error
from reference.families import FAMILIES
from reference.generation import steps
from reference.loading import class_of, describe, load, quiet_and_repeatable, read_config
from reference.registry import is_native, kind
from reference.results import measurable, named_tensors, run_all
from reference.text_inputs import read_tokenizer
from reference.weight_files import weight_bytes

# Weights of more bytes are computed with on all cores. Smaller goldens are the same bytes on machines with other numbers of cores.
MANY_THREADS = 128 << 20


def main():
    """Reads the command line, records, and turns expected failures into one line and an exit code."""
    parser = argparse.ArgumentParser(description="record golden.safetensors of a checkpoint directory")
    parser.add_argument("checkpoint", help="directory as `save_pretrained` writes it")
    parser.add_argument("--seed", type=int, default=0, help="chooses inputs (default 0)")
    samples = f"how often the reference's own error is measured (default {NOISE_SAMPLES})"
    parser.add_argument("--noise-samples", type=int, default=NOISE_SAMPLES, help=samples)
    parser.add_argument("--inputs", metavar="FILE", help="safetensors with the arguments of the main case, instead of drawn ones")
    parser.add_argument("--force", action="store_true", help="replace an existing golden.safetensors")
    parser.add_argument("--answers", action="store_true", help="keep the golden and record answers.json only")
    weights = "write synthetic.json for config.json and record nothing: weights with this seed"
    parser.add_argument("--recipe", type=int, metavar="SEED", help=weights)
    parser.add_argument("--quantise", metavar="SCHEME", help="mark the tensors of the recipe that this scheme quantizes")
    parser.add_argument("--progress", action="store_true", help="print on standard output how far the recording is")
    arguments = parser.parse_args()
    if arguments.progress:
        progress.enable()
    try:
        if arguments.recipe is not None:
            recipe.write(arguments.checkpoint, arguments.recipe, arguments.quantise)
        elif arguments.answers:
            answers.report(arguments.checkpoint, *answers.record(arguments.checkpoint))
        else:
            record_both(arguments)
    except ImportError as missing:
        install = getattr(missing, "install", "pip install pillow tokenizers sentencepiece")
        print(f"error: {first_line(missing)}; {install}", file=sys.stderr)
        return 3
    except RecordError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def record_both(arguments):
    """Records the golden, then the answers. No file is changed before both are complete."""
    directory = arguments.checkpoint
    path, content = prepare(directory, arguments.seed, arguments.force, arguments.noise_samples, arguments.inputs)
    with TemporaryFile(path, content) as golden:
        answered, missing = answers.prepare(directory, golden=golden.path)
        answers_path = publish(golden, answered, directory)
    print(path)
    answers.report(directory, answers_path, missing)


def publish(golden, answered, directory):
    """Names the golden and the answers; returns the path of the answers, or None without answers.

    The golden gets its name last, and an old one is removed first: its existence means that the recording is complete, so a killed one is
    repeated without --force.
    """
    path = os.path.join(directory, answers.FILE)
    if answered is None:
        remove(golden.target)
        remove(path)
        golden.persist()
        return None
    with TemporaryFile(path, answered) as file:
        remove(golden.target)
        file.persist()
        golden.persist()
    return path


def record(directory, seed=0, force=False, noise_samples=NOISE_SAMPLES, inputs=None):
    """Records `directory`/golden.safetensors and returns its path."""
    path, content = prepare(directory, seed, force, noise_samples, inputs)
    replace_file(path, content)
    return path


def prepare(directory, seed, force, noise_samples, inputs=None):
    """The path and the content of `directory`/golden.safetensors. `inputs` is a file with the main case, which is then the only one."""
    path = os.path.join(directory, "golden.safetensors")
    if os.path.exists(path) and not force:
        raise RecordError(f"`{path}` exists; give --force to replace it")
    quiet_and_repeatable()
    progress.report("inputs")
    config = read_config(directory)
    model_class, family = class_of(config), FAMILIES[kind(config)]
    if weight_bytes(directory) > MANY_THREADS:
        # A forward call of a published size takes minutes in one thread.
        torch.set_num_threads(len(os.sched_getaffinity(0)))
    model = load(model_class, directory, torch.float32)
    random = numpy.random.default_rng(seed)
    if inputs is not None:
        cases, tensors, metadata = [read_inputs(inputs, model)], {}, {}
        cases = [family.given(model, cases[0])] if hasattr(family, "given") else cases
    elif is_native(config) or hasattr(family, "load"):
        cases, tensors, metadata = family.cases(directory, config, random, seed)
    else:
        cases, tensors, metadata = any_cases.cases(model, directory, config, seed)
    raw = any(name.startswith(("image.", "audio.")) for name in tensors)
    # What a processor computes must be computed again by the one that is tested.
    cases, drawn = (cases, {}) if raw or inputs is not None else drawn_inputs.redraw(cases, seed)
    metadata |= describe(model_class, config, seed, noise_samples, inputs)
    if "text" in metadata:
        metadata["vocabulary.sha256"] = digest_of(read_tokenizer(directory))
    with user_error(f"`{type(model).__name__}` refuses the inputs"):
        results = run_all(model, cases)
    if is_native(config):
        tensors |= named_tensors(cases, results) | derived(family, directory, tensors, results)
        if hasattr(family, "generated") and (model.can_generate() or getattr(family, "GENERATES", False)):
            tensors |= family.generated(model, config, random, cases)
    else:
        written = {} if hasattr(family, "load") else any_generation.generated(model, directory, config, seed, cases)
        tensors |= named_tensors(cases, measurable(results)) | written
    tensors = {name: tensor for name, tensor in tensors.items() if name not in drawn}
    summarised = summary.summaries(tensors, cases)
    measured = noise_of(model, directory, cases, results, steps(tensors, cases[0]), noise_samples, bool(summarised))
    metadata |= only_recorded(tensors, measured) | config_effects.metadata(model_class, directory, cases[0])
    metadata |= {"drawn": json.dumps(drawn, sort_keys=True)} if drawn else {}
    tensors, described = summary.store(tensors, cases, summarised)
    return path, safetensors_of(tensors, metadata | described)


def only_recorded(tensors, metadata):
    """The noise of what is recorded: results that are left out have none."""
    names = {re.sub(r"^(case\.\d+\.)?output\.", "", name) for name in tensors}
    found = {}
    for key, value in metadata.items():
        if key.removeprefix("noise.") in DTYPES:
            value = json.dumps({name: error for name, error in json.loads(value).items() if name in names}, sort_keys=True)
        found[key] = value
    return found


def derived(family, directory, tensors, results):
    """The tensors that a family computes from the results."""
    return family.derived(directory, tensors, results) if hasattr(family, "derived") else {}


if __name__ == "__main__":
    sys.exit(main())
