"""Images for types without a native implementation, in the layouts that models take them in: part of the recorder `goldens.py`."""

import os

import numpy
import torch

from errors import RecordError
from forward_arguments import names
from image_inputs import processed_images, random_pixels
from measured_sizes import IMAGE, channels, first, image_sides, number

# Sizes that are tried if the configuration has none; a small one that is not square tests more.
SIZES = ((64, 48), (64, 64), (128, 128), (224, 224))
PROCESSORS = ("preprocessor_config.json", "processor_config.json")


class Images:
    """Draws the image arguments of a model."""

    def __init__(self, model, directory, config):
        self.model, self.directory, self.config = model, directory, config
        self.taken = names(model)
        self.channels, self.sides = channels(model, config), image_sides(config)
        self.patch = number(first(config, IMAGE, ("patch_size", "spatial_patch_size"))) or 16
        self.frames = number(first(config, IMAGE, ("num_frames", "frames_per_clip", "tubelet_frames")))

    @property
    def argument(self):
        """The argument with the pixels, or None."""
        return next((name for name in ("pixel_values", "pixel_values_videos", "pixel_values_vid") if name in self.taken), None)

    def layouts(self):
        """Functions of `(random, count)` that return the arguments, the likeliest first."""
        if self.argument is None and "grid_thw" not in self.taken:
            return
        if {"image_grid_thw", "grid_thw"} & self.taken:
            yield self.packed
        if "spatial_shapes" in self.taken:
            yield self.rows_of_patches
        for sides in [self.sides] if self.sides else SIZES:
            if self.frames:
                yield self.shaped(sides, self.frames)
            yield self.shaped(sides)
            if "aspect_ratio_ids" in self.taken:
                yield self.tiled(sides)
            yield self.shaped(sides, 1)
            for tiles in (2, 3, 5):
                yield self.shaped(sides, tiles)

    def shaped(self, sides, *between):
        """Pixels [count, *between, channels, height, width]."""

        def draw(random, count):
            single = int(numpy.prod(between, dtype=int)) * count
            pixels = random_pixels(self.config, random, single, self.channels, *sides)
            case = {self.argument: pixels.reshape(count, *between, self.channels, *sides)}
            return case | self.described(count, sides)

        return draw

    def described(self, count, sides):
        """Further arguments about the sizes of whole images."""
        case = {}
        if "image_sizes" in self.taken:
            case["image_sizes"] = torch.tensor([sides] * count)
        return case

    def tiled(self, sides):
        """One image of one tile in each row, as models with cross attention to images take it."""

        def draw(random, count):
            tiles = number(first(self.config, IMAGE, ("max_num_tiles",))) or 1
            pixels = random_pixels(self.config, random, count * tiles, self.channels, *sides)
            mask = torch.zeros(count, 1, tiles, dtype=torch.int64)
            mask[..., 0] = 1
            return {
                self.argument: pixels.reshape(count, 1, tiles, self.channels, *sides),
                "aspect_ratio_ids": torch.ones(count, 1, dtype=torch.int64),
                "aspect_ratio_mask": mask,
            }

        return draw

    def packed(self, random, count):
        """The patches of all images one after another, and the number of patches in time, height and width of each image."""
        merge = number(first(self.config, IMAGE, ("spatial_merge_size", "merge_size"))) or 1
        time = number(first(self.config, IMAGE, ("temporal_patch_size",))) or 1
        grid = [1, 2 * merge, 3 * merge]
        width = self.channels * time * self.patch**2
        patches = random.normal(0, 1, (count * grid[1] * grid[2], width)).astype(numpy.float32)
        argument = self.argument or "hidden_states"
        grids = "image_grid_thw" if "image_grid_thw" in self.taken else "grid_thw"
        return {argument: torch.from_numpy(patches), grids: torch.tensor([grid] * count)}

    def rows_of_patches(self, random, count):
        """The patches of each image in a row, with a mask and the number of patches in height and width."""
        most = number(first(self.config, IMAGE, ("num_patches",))) or 16
        side = max(int(most**0.5), 1)
        case = {
            self.argument: torch.from_numpy(random.normal(0, 1, (count, side * side, self.channels * self.patch**2)).astype(numpy.float32)),
            "spatial_shapes": torch.tensor([[side, side]] * count),
        }
        mask = next((name for name in ("pixel_attention_mask", "attention_mask") if name in self.taken), None)
        return case | ({mask: torch.ones(count, side * side, dtype=torch.int64)} if mask else {})

    def processed(self, random):
        """Images, pixels of the checkpoint's processor, and metadata; None if it does not have one that returns pixels."""
        if not any(os.path.isfile(os.path.join(self.directory, name)) for name in PROCESSORS) or self.channels != 3:
            return None
        try:
            images, pixels, metadata = processed_images(self.directory, *(self.sides or SIZES[0]), random)
        except (RecordError, KeyError, TypeError, ValueError):
            return None
        return {f"image.{index}": torch.from_numpy(numpy.array(image)) for index, image in enumerate(images)}, pixels, metadata

    def noise(self, random, case):
        """The random numbers by which masked autoencoders choose patches, as an argument, so that they are the same in every run."""
        pixels = case.get(self.argument)
        if "noise" not in self.taken or pixels is None:
            return {}
        count = (pixels.shape[-2] // self.patch) * (pixels.shape[-1] // self.patch)
        return {"noise": torch.from_numpy(random.random((len(pixels), count)).astype(numpy.float32))}
