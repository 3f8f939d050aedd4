"""Images with the output of the checkpoint's processor, or pixels near unit scale."""

import numpy
import torch
import transformers

from reference.errors import user_error
from reference.rounded_inputs import rounded


def processed_images(directory, height, width, random):
    """Images, the pixel values from the checkpoint's processor (PIL backend), and its name for the metadata."""
    with user_error(f"the image processor of `{directory}` does not load"):
        processor = transformers.AutoImageProcessor.from_pretrained(directory, backend="pil")
    shapes = [(height * 8 // 5 + 3, width * 13 // 10 + 1), (height * 4 // 5 + 1, width * 19 // 10 + 2)]
    images = [draw_image(random, *shape) for shape in shapes]
    pixels = [processor(images=image, return_tensors="pt")["pixel_values"] for image in images]
    if pixels[0].shape != pixels[1].shape:
        images[1] = draw_image(random, *shapes[0])
        pixels[1] = processor(images=images[1], return_tensors="pt")["pixel_values"]
    import PIL

    name = f"{type(processor).__name__} (backend {processor.backend}, Pillow {PIL.__version__})"
    return images, torch.cat(pixels), {"image_processor": name}


def processed_videos(directory, height, width, frames, random):
    """The frames of two videos, one video after another, the pixel values [2, frames, 3, height, width] from the checkpoint's processor
    (PIL backend), and its name for the metadata."""
    import PIL

    with user_error(f"the image processor of `{directory}` does not load"):
        processor = transformers.AutoImageProcessor.from_pretrained(directory, backend="pil")
    shapes = [(height * 8 // 5 + 3, width * 13 // 10 + 1), (height * 5 // 4 + 1, width * 19 // 10 + 2)]
    videos = [[draw_image(random, *shape) for _ in range(frames)] for shape in shapes]
    pixels = [processor(video, return_tensors="pt")["pixel_values"] for video in videos]
    name = f"{type(processor).__name__} (backend {processor.backend}, Pillow {PIL.__version__})"
    return [frame for video in videos for frame in video], torch.cat(pixels), {"image_processor": name}


def draw_image(random, height, width):
    """An RGB image [height, width, 3] of waves, a rectangle and some noise: noise alone would hide a wrong resize kernel."""
    image = waves(random, 3, height, width)
    top, left = int(random.integers(height // 4)), int(random.integers(width // 4))
    image[:, top : top + height // 2, left : left + width // 3] += random.uniform(-1.5, 1.5, (3, 1, 1))
    image += random.normal(0, 0.1, image.shape)
    return numpy.ascontiguousarray(numpy.clip(image * 60 + 128, 0, 255).astype(numpy.uint8).transpose(1, 2, 0))


def random_pixels(config, random, count, channels, height, width):
    """Normalised pixel values [count, channels, height, width] near unit scale: smooth waves with noise."""
    pixels = numpy.stack([waves(random, channels, height, width) for _ in range(count)])
    return rounded(config, pixels + random.normal(0, 0.3, pixels.shape))


def waves(random, channels, height, width):
    """Smooth patterns [channels, height, width], different in every channel, so that a swapped channel shows."""
    down = numpy.linspace(0, 1, height)[:, None]
    across = numpy.linspace(0, 1, width)[None, :]
    slopes, phases = random.uniform(-12, 12, (channels, 2)), random.uniform(0, 6, channels)
    return numpy.stack([1.4 * numpy.sin(a * down + b * across + p) for (a, b), p in zip(slopes, phases, strict=True)])


def image_size(config):
    """Height and width of the model's input. A convolutional model accepts any; a small one that is not square tests more."""
    size = getattr(config, "image_size", None) or (64, 48)
    return (size, size) if isinstance(size, int) else tuple(size)
