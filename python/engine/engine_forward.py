"""Forward calls and their results: part of the engine `torch`."""

import torch

from engine.engine_protocol import CallError
from reference.forward_arguments import names
from reference.results import run

DTYPE_NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
# Arguments that are true or false, in a message an integer for each row.
FLAGS = ("do_marginalize",)


def forward(model, inputs, traced):
    """The tensors of one call, by the names of its result; hidden states as `trace.*`, routers under their own names."""
    inputs = {name: value.any() if name in FLAGS else value for name, value in inputs.items()}
    if hasattr(model, "get_text_features") and hasattr(model, "get_image_features"):
        found = run_halves(model, inputs, traced)
    else:
        found = run(model, inputs, traced)
    named = {prefixed(name): value for name, value in found.items() if value is not None}
    return named | (passages(model, inputs) if hasattr(model, "retriever") and "input_ids" in inputs else {})


def run_halves(model, inputs, traced):
    """The results of texts, of images, or of both. transformers fails without one of them, on which the others do not depend."""
    lacking = [name for name in ("input_ids", "pixel_values") if name not in inputs]
    if not lacking:
        return run(model, inputs, traced)
    absent = empty_image(model) if "pixel_values" in lacking else {"input_ids": torch.zeros(1, 1, dtype=torch.int64)}
    found = run(model, inputs | {name: value.to(model.device) for name, value in absent.items()}, traced)
    made_up = {"input_ids": "text_embeds", "pixel_values": "image_embeds"}
    dropped = {made_up[name] for name in lacking} | {"logits_per_text", "logits_per_image"}
    return {name: value for name, value in found.items() if name not in dropped}


def empty_image(model):
    """A black image as the model takes it: pixels, or one patch with its place."""
    vision = model.config.vision_config
    if "spatial_shapes" in names(model):
        pixels = torch.zeros(1, 1, vision.num_channels * vision.patch_size**2)
        ones = torch.ones(1, 1, dtype=torch.int64)
        return {"pixel_values": pixels, "pixel_attention_mask": ones, "spatial_shapes": ones.expand(1, 2)}
    sides = vision.image_size if isinstance(vision.image_size, (list, tuple)) else [vision.image_size] * 2
    return {"pixel_values": torch.zeros(1, vision.num_channels, *sides)}


def passages(model, inputs):
    """The passages that the retriever finds on the host, and the texts that the generator reads with them."""
    states = model.question_encoder(inputs["input_ids"], attention_mask=inputs.get("attention_mask"))[0]
    ids, states = inputs["input_ids"].cpu(), states.float().cpu().numpy()
    prefix = getattr(model.generator.config, "prefix", None)
    found = model.retriever(ids, states, prefix=prefix, n_docs=model.config.n_docs, return_tensors="pt")
    names = {"doc_ids": "retrieved_doc_ids", "context_input_ids": "context_input_ids", "context_attention_mask": "context_attention_mask"}
    return {f"host.{name}": torch.as_tensor(found[own]) for own, name in names.items()}


def prefixed(name):
    """The name in a message."""
    if name.startswith("trace."):
        return name
    return f"trace.{name}" if name.startswith(("router.", "routing.")) else f"output.{name}"


def packed(found, device):
    """The reply and the tensors on the host."""
    placements, tensors = [], {}
    for name, value in found.items():
        if value.is_complex():
            raise CallError(f"`{name}` has complex numbers, which messages do not have")
        if value.is_floating_point():
            # float64, in which some classes compute parts of a result, is f32 in messages.
            placements.append({"name": name, "device": device.kind_of(value), "dtype": DTYPE_NAMES.get(value.dtype, "f32")})
            tensors[name] = value.detach().float().cpu()
        else:
            tensors[name] = value.detach().to(torch.int64).cpu()
    return {"placements": placements}, tensors
