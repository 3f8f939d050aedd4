"""Inputs and results of object detection models."""

import inspect
import os
from types import SimpleNamespace

import torch
import transformers

from reference.errors import user_error
from reference.image_inputs import draw_image, random_pixels

# What an image without a processor measures; a convolution makes 1/32 of it, which must leave some places.
HEIGHT, WIDTH = 40, 48


def cases(directory, config, random, _seed):
    """Main case of two images of different shapes, padded to one; then images of another size without padding."""
    channels = backbone(config).num_channels
    if channels == 3 and os.path.isfile(os.path.join(directory, "preprocessor_config.json")):
        case, tensors, metadata = processed(directory, random)
    else:
        pixels = random_pixels(config, random, 2, channels, HEIGHT, WIDTH)
        case, tensors, metadata = {"pixel_values": pixels, "pixel_mask": half_hidden(pixels)}, {}, {}
    height, width = case["pixel_values"].shape[-2:]
    other = random_pixels(config, random, 2, channels, height - 8, width + 16)
    if "pixel_mask" not in inspect.signature(getattr(transformers, config.architectures[0]).forward).parameters:
        case.pop("pixel_mask")
    return [case, {"pixel_values": other}], tensors, metadata


def backbone(config):
    """The configuration that contains the number of channels."""
    return getattr(config, "backbone_config", None) or config


def half_hidden(pixels):
    """A mask that hides the right and the lower part of the second image."""
    mask = torch.ones(pixels.shape[0], *pixels.shape[-2:], dtype=torch.int64)
    mask[1, pixels.shape[-2] * 3 // 5 :] = 0
    mask[1, :, pixels.shape[-1] * 2 // 3 :] = 0
    return mask


def processed(directory, random):
    """Images, and the output of the checkpoint's processor (PIL backend) for the batch."""
    processor, name = load_processor(directory)
    images = [draw_image(random, *shape) for shape in ((43, 62), (57, 48))]
    with user_error(f"the image processor of `{directory}` refuses the images"):
        batch = processor(images=images, return_tensors="pt")
    tensors = {f"image.{index}": torch.from_numpy(image) for index, image in enumerate(images)}
    case = {"pixel_values": batch["pixel_values"], "pixel_mask": batch["pixel_mask"].to(torch.int64)}
    return case, tensors, {"image_processor": name}


def load_processor(directory):
    """The processor and its name for the metadata."""
    import PIL

    with user_error(f"the image processor of `{directory}` does not load"):
        processor = transformers.AutoImageProcessor.from_pretrained(directory, backend="pil")
    return processor, f"{type(processor).__name__} (backend {processor.backend}, Pillow {PIL.__version__})"


def derived(directory, tensors, results):
    """The processor's detections from the main case's outputs: every query's box in pixels, score and label."""
    images = [tensors[name] for name in sorted(tensors) if name.startswith("image.")]
    if not images or "pred_boxes" not in results[0]:
        return {}
    processor, _ = load_processor(directory)
    sizes = [tuple(image.shape[:2]) for image in images]
    found = processor.post_process_object_detection(SimpleNamespace(**results[0]), threshold=-1.0, target_sizes=sizes)
    return {f"detection.{name}": torch.stack([each[name] for each in found]) for name in ("boxes", "labels", "scores")}


def trace(result):
    """The hidden states of the encoder, then of the decoder where there is one."""
    if "encoder_hidden_states" in result:
        states = [*result.encoder_hidden_states, *result.decoder_hidden_states[1:]]
    else:
        states = result.hidden_states
    return {"trace.embed" if i == 0 else f"trace.layer.{i - 1}": state for i, state in enumerate(states)}
