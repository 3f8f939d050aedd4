"""Answers about series, graphs and latents, from inputs of the golden: part of the recorder `answers.py`."""

import json
import os
import re

import torch

from record.answer_media import ranked_labels
from record.answer_subject import Answered, Forward, NotServed, at_least_float32, vector
from record.label_scores import label_scores
from reference.results import run

# Enough for every part of a scheduler's step, few enough to stay fast.
STEPS = 3


def series(subject):
    """The series of the main case as a request."""
    observed = {"observed": "input.past_observed_mask"} if "input.past_observed_mask" in subject.golden else {}
    return {"series": {"values": "input.past_values"} | observed}


def vectors_of(subject, request, name, output, case=0):
    """An output of the class, one entry for each row."""
    inputs = subject.inputs(case)
    runs = Forward([inputs], lambda _, result: {name: result[output]})
    with torch.no_grad():
        found = run(subject.model, inputs, trace=False)[output]
    answer = {"vectors": [{name: vector(row)} for row in found]}
    return Answered(request, answer, f"`{output}` of {subject.model_class.__name__}", runs)


def time_series_forecasting(subject):
    """How the channels continue."""
    return vectors_of(subject, series(subject), "forecast", "prediction_outputs")


def time_series_regression(subject):
    """The numbers that the series are rated with."""
    return vectors_of(subject, series(subject), "regression", "regression_outputs")


def time_series_classification(subject):
    """Every label with its probability, best first."""

    def scores(result):
        return at_least_float32(result["prediction_logits"]).softmax(-1)

    runs = Forward([subject.inputs()], lambda _, result: {"scores": scores(result)})
    with torch.no_grad():
        rows = scores(subject.model(**subject.inputs()))
    answer = {"labels": [ranked_labels(subject.model.config.id2label, row) for row in rows]}
    return Answered(series(subject), answer, "the softmax of `prediction_logits`", runs)


def graphs(subject):
    """The graphs of the main case as a request."""
    found = {match[0] for match in (re.match(r"graph\.\d+", name) for name in subject.golden) if match}
    return {"graphs": sorted(found)}


def graph_classification(subject):
    """Every label with its probability, best first, or the number that a class with one output predicts."""
    inputs = subject.inputs()
    with torch.no_grad():
        logits = run(subject.model, inputs, trace=False)["logits"]
    if logits.shape[-1] == 1:
        return vectors_of(subject, graphs(subject), "regression", "logits")
    runs = Forward([inputs], lambda _, result: {"scores": label_scores(subject.config, result["logits"])})
    rows = label_scores(subject.config, logits)
    answer = {"labels": [ranked_labels(subject.model.config.id2label, row) for row in rows]}
    return Answered(graphs(subject), answer, "GraphormerDataCollator and the scores of `logits`", runs)


def graph_embedding(subject):
    """The vectors of the nodes, and of the token of the whole graph, which is the first."""
    inputs, request = subject.inputs(), graphs(subject)
    counts = [int(subject.golden[f"{name}.num_nodes"].flatten()[0]) for name in request["graphs"]]

    def parts(result):
        hidden = result["last_hidden_state"]
        return [{"nodes": row[1 : 1 + count], "graph": row[0]} for row, count in zip(hidden, counts, strict=True)]

    def numbers(_index, result):
        rows = parts(result)
        return {name: torch.cat([row[name].flatten() for row in rows]) for name in rows[0]}

    with torch.no_grad():
        found = parts(run(subject.model, inputs, trace=False))
    answer = {"vectors": [{name: vector(value) for name, value in row.items()} for row in found]}
    return Answered(request, answer, "GraphormerDataCollator and `last_hidden_state`", Forward([inputs], numbers))


def image_decoding(subject):
    """Latents decoded."""
    case = next((int(match[1]) for match in (re.match(r"case\.(\d+)\.input\.z$", name) for name in subject.golden) if match), None)
    if case is None:
        raise NotServed("the golden has no latents")
    answered = vectors_of(subject, {"latents": f"case.{case}.input.z"}, "pixels", "sample", case)
    answered.source, answered.library = "AutoencoderKL.decode", library()
    return answered


def image_denoising(subject):
    """Latents after a few steps of the checkpoint's scheduler, which computes in float32."""
    path = os.path.join(subject.directory, "scheduler_config.json")
    if not os.path.exists(path):
        raise NotServed("the checkpoint has no scheduler")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    inputs = {name: value for name, value in subject.inputs().items() if name != "timestep"}
    runs = Denoising(config, inputs)
    latents = runs.of(subject.model)[0]["latents"].reshape(inputs["sample"].shape)
    condition = {name: f"input.{name}" for name in inputs if name != "sample"}
    request = {"noise": "input.sample", "condition": condition, "steps": STEPS}
    answer = {"vectors": [{"latents": vector(row)} for row in latents]}
    return Answered(request, answer, f"{config['_class_name']}.step", runs, library())


def library():
    """The library of models of diffusion."""
    import diffusers

    return f"diffusers {diffusers.__version__}"


class Denoising:
    """The steps of a scheduler."""

    def __init__(self, config, inputs):
        self.config, self.inputs = config, inputs

    def of(self, model):
        """The latents after the last step."""
        import diffusers

        scheduler = getattr(diffusers, self.config["_class_name"]).from_config(self.config)
        scheduler.set_timesteps(STEPS)
        rest = {name: value for name, value in self.inputs.items() if name != "sample"}
        sample = self.inputs["sample"] * scheduler.init_noise_sigma
        sample = sample.double() if model.dtype == torch.float64 else sample
        for step in scheduler.timesteps:
            scaled = scheduler.scale_model_input(sample, step)
            case = rest | {"sample": scaled, "timestep": step.expand(len(sample))}
            output = at_least_float32(run(model, case, trace=False)["sample"])
            sample = scheduler.step(output, step, sample).prev_sample
        return [{"latents": sample.flatten()}]
