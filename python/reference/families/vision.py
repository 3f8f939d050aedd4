"""Inputs of image encoders and classifiers."""

import os

import torch

from reference.image_inputs import image_size, processed_images, random_pixels
from reference.registry import entry


def cases(directory, config, random, _seed):
    """Main case from images where the checkpoint has an image processor, and a second batch of another size or count."""
    height, width = image_size(config)
    tensors, metadata = {}, {}
    if config.num_channels == 3 and os.path.isfile(os.path.join(directory, "preprocessor_config.json")):
        images, pixels, metadata = processed_images(directory, height, width, random)
        tensors = {f"image.{index}": torch.from_numpy(image) for index, image in enumerate(images)}
    else:
        pixels = random_pixels(config, random, 2, config.num_channels, height, width)
    height, width = pixels.shape[-2:]
    if entry(config).any_image_size:
        height, width = height - 8, width + 12
    other = random_pixels(config, random, 3, config.num_channels, height, width)
    return [{"pixel_values": pixels}, {"pixel_values": other}], tensors, metadata
