"""Records `answers.json` of a checkpoint directory: a request of each task that its class serves, and the reference's answer.

The inputs are those of `golden.safetensors`, which must have been recorded: its texts are written out, everything else is named. The
answer is that of transformers' own pipeline, processor or postprocessing in float32. A checkpoint without the tokenizer,
processor or scheduler that a task needs has no request for it.

The file is JSON: for each task `request`, `answer`, `noise` (the reference's own error in the numbers of the answer, by compute type, as
in the golden) and `source` (the class or function that computes the answer).
"""

import json
import os
import sys

import transformers

from record import progress
from record.answer_subject import NotServed, Subject
from record.answer_tasks import tasks_of
from record.atomic_file import remove, replace_file
from record.noise import measured
from reference.errors import first_line
from reference.loading import quiet_and_repeatable
from reference.registry import is_native

FILE = "answers.json"
# A few numbers say little about the noise by chance, so more than one sample is measured.
NOISE_SAMPLES = 3


def record(directory, noise_samples=NOISE_SAMPLES):
    """Writes `directory`/answers.json. Returns its path, or None where no task has a request, and why tasks have none."""
    content, missing = prepare(directory, noise_samples)
    path = os.path.join(directory, FILE)
    if content is None:
        remove(path)
        return None, missing
    replace_file(path, content)
    return path, missing


def prepare(directory, noise_samples=NOISE_SAMPLES, golden=None):
    """The content of answers.json, or None where no task has a request, and why tasks have none. `golden` is the path of a golden that is
    not in its place yet."""
    quiet_and_repeatable()
    subject = Subject(directory, golden)
    answers, missing = {}, {}
    for task, answer in progress.counted("answers", list(tasks_of(subject).items())):
        try:
            answers[task] = recorded(subject, answer(subject), noise_samples)
        except NotServed as why:
            missing[task] = str(why)
        except Exception as error:
            # A pipeline may not know the type. It knows the native ones, so that an error there is a fault.
            if is_native(subject.config):
                raise
            missing[task] = first_line(error)
    lines = ",\n".join(f"{json.dumps(task)}: {json.dumps(answer, ensure_ascii=False, sort_keys=True)}" for task, answer in answers.items())
    return f"{{\n{lines}\n}}\n".encode() if answers else None, missing


def recorded(subject, answered, noise_samples):
    """The entry of one task."""
    noise = answered.noise
    if noise is None:
        results = answered.runs.of(subject.model)
        choosing = subject.has_routing
        noise = measured(subject.model_class, subject.directory, answered.runs, results, noise_samples, choosing)
    source = f"{answered.source} of {answered.library or 'transformers ' + transformers.__version__}"
    return {"request": answered.request, "answer": answered.answer, "noise": noise, "source": source}


def report(checkpoint, path, missing):
    """Prints the path of the file, or that there is none, and why tasks have no request."""
    for task, why in missing.items():
        print(f"note: `{checkpoint}` has no request for {task}: {why}", file=sys.stderr)
    print(path or f"`{checkpoint}` has no request", flush=True)
