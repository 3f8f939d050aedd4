"""Images for types without a native implementation, in the layouts that models take them in."""

import os

import numpy
import torch

from record.measured_sizes import IMAGE, channels, first, image_sides, number
from reference.errors import RecordError
from reference.forward_arguments import names
from reference.image_inputs import processed_images, processed_videos, random_pixels

# Sizes that are tried if the configuration has none; a small one that is not square tests more.
SIZES = ((32, 48), (64, 48), (64, 64), (128, 128), (224, 224))
ARGUMENTS = ("pixel_values", "pixel_values_videos", "pixel_values_vid", "flattened_patches")
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
        return next((name for name in ARGUMENTS if name in self.taken), None)

    def layouts(self):
        """Functions of `(random, count)` that return the arguments, the likeliest first."""
        if self.argument is None and "grid_thw" not in self.taken:
            return
        if {"image_grid_thw", "grid_thw"} & self.taken:
            yield self.packed()
            yield self.packed(self.channels, self.patch, self.patch)
            yield self.packed(1, self.channels, self.patch, self.patch)
        if {"spatial_shapes", "image_position_ids", "pixel_position_ids"} & self.taken:
            yield self.rows_of_patches
        if self.argument == "flattened_patches":
            yield self.numbered_patches
            return
        if "target_sizes" in self.taken:
            yield self.strip
        for sides in [self.sides] if self.sides else SIZES:
            if self.frames:
                yield self.shaped(sides, self.frames)
            yield self.shaped(sides)
            if "aspect_ratio_ids" in self.taken:
                yield self.tiled(sides)
            yield self.shaped(sides, 1)
            for tiles in (2, 3, 5):
                yield self.shaped(sides, tiles)
        if self.argument:
            yield self.rows_of_patches

    def numbered_patches(self, random, count):
        """The patches of each image in a row, each after its row and column, which count from one."""
        side = 4
        numbers = torch.cartesian_prod(torch.arange(1.0, side + 1), torch.arange(1.0, side + 1)).expand(count, -1, -1)
        pixels = normal(random, count, side * side, self.channels * self.patch**2)
        return {self.argument: torch.cat([numbers, pixels], -1)}

    def strip(self, random, count):
        """The patches of all images side by side in one strip, and the number of patches in height and width of each image."""
        size = [4, 8]
        pixels = normal(random, 1, self.channels, self.patch, self.patch * size[0] * size[1] * count)
        return {self.argument: pixels, "target_sizes": torch.tensor([size] * count)}

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
        if "target_sizes" in self.taken:
            case["target_sizes"] = torch.tensor([[side // self.patch for side in sides]] * count)
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

    def packed(self, *shape):
        """The patches of all images one after another, each flat or of a shape, and the number of patches in time, height and width."""
        merge = number(first(self.config, IMAGE, ("spatial_merge_size", "merge_size", "merge_kernel_size"))) or 1
        time = number(first(self.config, IMAGE, ("temporal_patch_size", "patch_temporal"))) or 1
        grid = [1, 2 * merge, 3 * merge]

        def draw(random, count):
            patches = count * grid[1] * grid[2]
            # A row of its own is the first dimension of all patches.
            sizes = (1, patches, *shape[1:]) if len(shape) == 4 else (patches, *(shape or (self.channels * time * self.patch**2,)))
            case = {self.argument or "hidden_states": normal(random, *sizes)}
            case["image_grid_thw" if "image_grid_thw" in self.taken else "grid_thw"] = torch.tensor([grid] * count)
            return case | {name: torch.tensor([merge] * count) for name in ("image_merge_sizes", "merge_sizes") if name in self.taken}

        return draw

    def rows_of_patches(self, random, count):
        """The patches of each image in a row, with a mask and the number of patches in height and width, or the place of each."""
        most = number(first(self.config, IMAGE, ("num_patches",))) or 16
        side = min(max(int(most**0.5), 1), 6)
        axes = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="xy")
        places = torch.stack(axes, -1).reshape(1, -1, 2).repeat(count, 1, 1)
        further = {
            "spatial_shapes": torch.tensor([[side, side]] * count),
            "image_position_ids": places,
            "pixel_position_ids": places,
            "pixel_attention_mask": torch.ones(count, side * side, dtype=torch.int64),
        }
        if "pixel_attention_mask" not in self.taken and "input_ids" not in self.taken:
            further["attention_mask"] = further["pixel_attention_mask"]
        case = {self.argument: normal(random, count, side * side, self.channels * self.patch**2)}
        return case | {name: value for name, value in further.items() if name in self.taken}

    def processed(self, random, pixels):
        """Images, pixels of the checkpoint's processor in the place of `pixels`, and metadata; None if it does not have one that returns
        pixels."""
        if not any(os.path.isfile(os.path.join(self.directory, name)) for name in PROCESSORS) or self.channels != 3:
            return None
        try:
            sides = self.sides or SIZES[0]
            if self.frames and pixels.ndim == 5 and pixels.shape[1] == self.frames:
                images, pixels, metadata = processed_videos(self.directory, *sides, self.frames, random)
            else:
                images, pixels, metadata = processed_images(self.directory, *sides, random)
        except (RecordError, KeyError, TypeError, ValueError):
            return None
        return {f"image.{index}": torch.from_numpy(numpy.array(image)) for index, image in enumerate(images)}, pixels, metadata

    def noise(self, random, case):
        """The random numbers by which masked autoencoders choose patches, as an argument, so that they are the same in every run."""
        pixels = case.get(self.argument)
        # With a time, noise is not of patches.
        if "noise" not in self.taken or "timestep" in self.taken or pixels is None:
            return {}
        count = (pixels.shape[-2] // self.patch) * (pixels.shape[-1] // self.patch)
        return {"noise": torch.from_numpy(random.random((len(pixels), count)).astype(numpy.float32))}


def normal(random, *shape):
    """Normal noise."""
    return torch.from_numpy(random.normal(0, 1, shape).astype(numpy.float32))
