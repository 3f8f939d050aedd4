"""Inputs of types without a native implementation, by the signature of `forward`.

A model may take images and sounds in one of several layouts, which no configuration names. They are tried, the likeliest first, and the
first that the model takes is recorded.
"""

import contextlib
import inspect
import itertools
import json
import re
from types import SimpleNamespace

import numpy
import torch

from record.any_audio import Audio
from record.any_extra import extra_arguments
from record.any_images import Images
from record.any_series import Series
from record.any_text import AUDIO_TOKENS, IMAGE_TOKENS, Text
from record.any_vectors import Vectors
from record.measured_sizes import token_ids
from reference import forward_arguments
from reference.errors import RecordError, first_line
from reference.families.object_detection import half_hidden
from reference.registry import entry
from reference.results import chooses, run

# In the error of transformers if there are more or fewer tokens than vectors.
REPORTED = re.compile(r"do not match.*features:? (\d+)")
WITHOUT_DECODER = ("ForQuestionAnswering", "EncoderModel")
# Arguments of `forward` that are not inputs.
NO_INPUT = re.compile(r"self|kwargs|labels|.*_labels|output_|return_|use_cache|past_key_values|cache_|.*loss")
# Longer chains of failures are not read.
LONGEST = 300


def cases(model, directory, config, seed):
    """The cases, raw inputs and metadata of a model in float32."""
    drawing = Drawing(model, directory, config, seed)
    failures, found = [], None
    for plan in drawing.plans():
        random = numpy.random.default_rng(seed)
        try:
            main, tensors, metadata = drawing.main(plan, random)
            first = run(model, main, trace=True)
        except Exception as error:
            # Whatever a model raises for a layout that it does not take.
            failures.append(error)
            continue
        refuse_random(model, first, run(model, main, trace=True))
        found = found or (plan, random, main, tensors, metadata)
        if takes_half(model, main):
            found = (plan, random, main, tensors, metadata)
            break
    if found is None:
        raise refusal(model, failures)
    plan, random, main, tensors, metadata = found
    return [main, *drawing.further(plan, random)], tensors, metadata


def takes_half(model, case):
    """Whether the model takes half of the samples of a sound, which `shape_sweep` needs; the convolutions of some models are longer.
    Models of one length take none."""
    samples = case.get("input_values")
    if samples is None or samples.ndim != 2 or not set(case) <= {"input_values", "attention_mask", "padding_mask"}:
        return True
    half = samples.shape[1] // 2 + 1
    with contextlib.suppress(Exception):
        # Whatever a model raises for a sound that is too short.
        run(model, {name: value[:, :half] for name, value in case.items()}, trace=False)
        return True
    return False


def refusal(model, failures):
    """The error of a model that takes none of the inputs."""
    name = type(model).__name__
    if failures and isinstance(failures[0], RecordError):
        return failures[0]
    advice = f"give others with --inputs FILE, it takes {arguments(model)}"
    error = RecordError(f"`{name}` refuses the inputs: {first_line(failures[0])[:LONGEST]}; {advice}")
    error.failures = failures
    return error


def arguments(model):
    """The arguments of `forward` that may be inputs, for a message."""
    found = [name for name in forward_arguments.parameters(model) if not NO_INPUT.match(name)]
    return ", ".join(f"`{name}`" for name in found) or "no named arguments"


def refuse_random(model, first, second):
    """A model that draws random numbers while it runs cannot be a reference."""
    for name, value in first.items():
        if value.shape != second[name].shape or not torch.equal(value.nan_to_num(), second[name].nan_to_num()):
            raise RecordError(f"`{type(model).__name__}` computes another `{name}` in a second run, so that it cannot be a reference")


class Drawing:
    """Draws the inputs of one model."""

    def __init__(self, model, directory, config, seed):
        self.model, self.directory, self.config, self.seed = model, directory, config, seed
        self.taken = forward_arguments.names(model)
        self.architecture = entry(config).architecture
        self.images, self.audio, self.series = Images(model, directory, config), Audio(model, config), Series(model, config)
        self.vectors_only = Vectors(model, config)
        self.text = Text(model, directory, config, seed) if {"input_ids", "decoder_input_ids"} & self.taken else None

    def plans(self):
        """Plans of what to draw, the likeliest first: layouts of images, sounds, and series or vectors, each None unless the model reads
        them, and whether a text has tokens in the places of images and sounds."""
        reads_text = "input_ids" in self.taken
        images, audio = list(self.images.layouts()), list(self.audio.layouts())
        if self.architecture in ("encoder_only", "decoder_only", "moe", "ssm") and reads_text:
            # Text models that may also read an image or a sound.
            images, audio = [None, *images], [None]
        elif self.architecture in ("multimodal", "vision_text", "vision", "object_detection") and images:
            audio = [None]
        elif self.architecture == "speech" and audio:
            images = [None]
        reads_vectors = not (reads_text or images or audio)
        values = [*self.series.layouts(), *(self.vectors_only.layouts() if reads_vectors else ())]
        for series, image, sound in itertools.product(values or [None], images or [None], audio or [None]):
            placed = reads_text and (self.place(IMAGE_TOKENS) if image else self.place(AUDIO_TOKENS) if sound else None) is not None
            for places, codes in itertools.product((True, False) if placed else (False,), self.text.codes() if reads_text else [None]):
                yield SimpleNamespace(series=series, image=image, sound=sound, text=reads_text, places=places, codes=codes)

    def place(self, fields):
        """The token in the place of an image or a sound, or None."""
        found = token_ids(self.config, fields)
        return found if found is not None and self.text is not None and found < self.text.size else None

    def main(self, plan, random):
        """The main case, raw inputs and metadata."""
        text, metadata = self.text.main(random) if plan.text else ({}, {})
        case = self.case(plan, random, text, 2)
        if chooses(self.model) and "text" in metadata:
            metadata |= {"text": json.dumps(in_both_orders(json.loads(metadata["text"])), ensure_ascii=False)}
        name = self.images.argument
        reads_images = name in case and plan.image and not plan.places and not plan.sound
        processed = self.images.processed(random, case[name]) if reads_images else None
        if processed is None or processed[1].shape != case[name].shape:
            return case, {}, metadata
        tensors, pixels, described = processed
        return case | {name: pixels}, tensors, metadata | described

    def further(self, plan, random):
        """The other cases that the model takes: a longer one without padding, and for decoders one with padding on the left."""
        rows = 2 if plan.text else 3
        draws = [lambda: self.case(plan, random, self.text.longer(random) if plan.text else {}, rows)]
        decodes = self.architecture in ("decoder_only", "moe", "ssm", "multimodal")
        if decodes and plan.text and not plan.codes and self.text.masked and self.model.config._attn_implementation == "eager":
            draws.append(lambda: self.case(plan, random, self.text.left(random), 3))
        for draw in draws:
            try:
                case = draw()
                run(self.model, case, trace=False)
            except Exception:
                # The main case is enough: some layouts are fixed to a number of rows or a length.
                continue
            yield case

    def case(self, plan, random, text, rows):
        """One case of `rows` rows."""
        text = self.text.coded(random, text, plan.codes) if plan.codes else text
        case = dict(text)
        for draw in (plan.series, plan.image, plan.sound):
            if draw is not None:
                case |= draw(random, rows)
        if plan.places:
            token = self.place(IMAGE_TOKENS if plan.image else AUDIO_TOKENS)
            case |= self.text.with_places(text, token, self.vectors(plan, random, case, text, rows) // rows)
            if "image_grid_thw" in case:
                # Positions follow from the grid.
                case.pop("position_ids", None)
        case = self.finished(plan, random, case, rows)
        case = {name: value for name, value in case.items() if name in self.taken}
        # Two rows with the same choices, so that a row that depends on the order of choices shows.
        return {name: torch.stack([value, value.flip(0)]) for name, value in case.items()} if chooses(self.model) else case

    def ends(self, name):
        """Whether the class searches for the end of a text."""
        return self.architecture == "vision_text" or ("Classification" in name and "decoder_input_ids" in self.taken)

    def vectors(self, plan, random, case, text, rows):
        """The number of vectors that the images or sounds of a case become, which is the number of tokens in their places: from the method
        that computes them, else from the error of a run with another number of tokens."""
        with contextlib.suppress(Exception):
            # Whatever a method raises for arguments that it takes only together with others.
            return features_of(self.model, case, "image" if plan.image else "audio")
        token = self.place(IMAGE_TOKENS if plan.image else AUDIO_TOKENS)
        wrong = self.finished(plan, random, case | self.text.with_places(text, token, 1), rows)
        try:
            run(self.model, {name: value for name, value in wrong.items() if name in self.taken}, trace=False)
        except Exception as error:
            found = REPORTED.search(str(error))
            if found:
                return int(found[1])
            raise
        return rows

    def finished(self, plan, random, case, rows):
        """The case with the arguments that depend on the architecture and on the class."""
        name = type(self.model).__name__
        if plan.text and self.ends(name):
            case = self.text.with_end(case)
        if plan.text and self.architecture == "encoder_only":
            case = self.text.with_types(case)
        if "decoder_input_ids" in self.taken and not name.endswith(WITHOUT_DECODER) and "Classification" not in name:
            case = self.text.with_decoder(random, case, rows, (9, *[6] * (rows - 1)))
        if self.architecture == "object_detection" and "pixel_mask" in self.taken and "pixel_values" in case:
            case["pixel_mask"] = half_hidden(case["pixel_values"])
        case |= self.images.noise(random, case)
        case |= extra_arguments(self.model, self.config, random, case)
        missing = [name for name in forward_arguments.required(self.model) if name not in case]
        if not case:
            raise RecordError(f"`{name}` takes {arguments(self.model)}, which cannot be drawn; give them with --inputs FILE")
        if missing:
            raise RecordError(f"`{name}` needs `{missing[0]}`; give it with --inputs FILE")
        return case


def in_both_orders(texts):
    """The texts of two rows with the same choices, the second row in the opposite order."""
    return [*texts, *reversed(texts)]


@torch.no_grad()
def features_of(model, case, modality):
    """The number of vectors that the images or sounds of a case become, which is the number of tokens in their places."""
    compute = getattr(model, f"get_{modality}_features", None) or getattr(getattr(model, "model", None), f"get_{modality}_features", None)
    of_text = ("input_ids", "attention_mask", "position_ids", "mm_token_type_ids")
    taken = inspect.signature(compute).parameters
    named = {name: value for name, value in case.items() if name in taken and name not in of_text}
    # A decorator may hide the signature.
    found = compute(**named or {name: value for name, value in case.items() if name not in of_text})
    found = getattr(found, "pooler_output", None) if hasattr(found, "pooler_output") else found
    return sum(one.numel() // one.shape[-1] for one in flat(found))


def flat(values):
    """The tensors of a nested list."""
    if isinstance(values, torch.Tensor):
        return [values]
    return [one for value in values if value is not None for one in flat(value)]
