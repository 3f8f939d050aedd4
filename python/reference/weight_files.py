"""The files with weights of a checkpoint, as transformers and diffusers name them."""

import json
import os


def weight_files(directory):
    """Their paths; none without safetensors."""
    for stem in ("model.safetensors", "diffusion_pytorch_model.safetensors"):
        index = os.path.join(directory, f"{stem}.index.json")
        if os.path.isfile(index):
            with open(index, encoding="utf-8") as file:
                return [os.path.join(directory, name) for name in sorted(set(json.load(file)["weight_map"].values()))]
        if os.path.isfile(os.path.join(directory, stem)):
            return [os.path.join(directory, stem)]
    return []


def weight_bytes(directory):
    """Their bytes."""
    return sum(os.path.getsize(path) for path in weight_files(directory))
