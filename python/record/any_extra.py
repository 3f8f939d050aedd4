"""Arguments that single kinds of text models take beside ids, for types without a native implementation."""

import numpy
import torch

from record.measured_sizes import IMAGE, TEXT, first, number
from reference.forward_arguments import names


def extra_arguments(model, config, random, case):
    """The further arguments that the signature names and the configuration has sizes for."""
    taken = names(model) - set(case)
    ids = case.get("input_ids")
    found = {}
    if "bbox" in taken and ids is not None:
        found["bbox"] = boxes(config, random, ids.shape)
    if "visual_feats" in taken:
        found["visual_feats"] = normal(random, len(ids), 5, number(getattr(config, "visual_feat_dim", None), 8))
        found["visual_pos"] = normal(random, len(ids), 5, number(getattr(config, "visual_pos_dim", None), 4)).sigmoid()
    if "visual_embeds" in taken and number(getattr(config, "visual_embedding_dim", None)):
        found["visual_embeds"] = normal(random, len(ids), 5, config.visual_embedding_dim)
    if "query_embeds" in taken:
        found["query_embeds"] = normal(random, 2, 5, config.hidden_size)
    if "encoder_hidden_states" in taken and number(getattr(config, "encoder_hidden_size", None)) and ids is None:
        found["encoder_hidden_states"] = normal(random, 2, 6, config.encoder_hidden_size)
    if "image_attention_mask" in taken and "pixel_values" in case and ids is not None:
        found["image_attention_mask"] = torch.ones(*ids.shape, case["pixel_values"].shape[1], dtype=torch.int64)
    if "qformer_input_ids" in taken and ids is not None:
        size = number(first(config, ("qformer",), ("vocab_size",)), 2)
        found["qformer_input_ids"] = torch.from_numpy(random.integers(1, size, (len(ids), 5)))
        found["qformer_attention_mask"] = torch.ones(len(ids), 5, dtype=torch.int64)
    if "pixel_mask" in taken and "pixel_values" in case and case["pixel_values"].ndim == 4 and ids is not None:
        shape = case["pixel_values"].shape
        found["pixel_mask"] = torch.ones(shape[0], *shape[-2:], dtype=torch.int64)
    if "classes_input_ids" in taken:
        found |= named_classes(config, random, len(case["pixel_values"]))
    if "state" in taken and number(getattr(config, "max_state_dim", None)):
        found |= movement(config, random, len(ids) if ids is not None else 2)
        # Which cameras of each row have an image.
        if "pixel_values" in case and case["pixel_values"].ndim == 5:
            found["pixel_attention_mask"] = torch.ones(case["pixel_values"].shape[:2], dtype=torch.int64)
    if "image_embeds_position_mask" in taken and ids is not None and number(getattr(config, "latent_query_num", None)):
        # The vectors of the image take the places of the first tokens.
        place = torch.arange(ids.shape[1]).expand(ids.shape)
        found["image_embeds_position_mask"] = (place < config.latent_query_num).to(torch.int64)
    if "image" in taken and ids is not None:
        side = number(first(config, IMAGE, ("image_size", "input_size")), 224)
        found["image"] = normal(random, len(ids), 3, side, side)
    return found


def named_classes(config, random, rows, count=2, length=5):
    """The names of the classes to detect, `count` in each image, and the task in words."""
    size = number(first(config, TEXT, ("vocab_size",)), 2)

    def ids(texts):
        return torch.from_numpy(random.integers(1, size, (texts, length)))

    return {
        "classes_input_ids": ids(rows * count),
        "classes_attention_mask": torch.ones(rows * count, length, dtype=torch.int64),
        "tasks_input_ids": ids(rows),
        "tasks_attention_mask": torch.ones(rows, length, dtype=torch.int64),
        "classes_structure": torch.full((rows,), count),
    }


def movement(config, random, rows):
    """The state of a robot, and the noise that becomes its actions, at a time: without them the model draws both."""
    return {
        "state": normal(random, rows, config.max_state_dim),
        "noise": normal(random, rows, config.chunk_size, config.max_action_dim),
        "timestep": torch.from_numpy(random.uniform(0.1, 0.9, rows).astype(numpy.float32)),
    }


def boxes(config, random, shape):
    """The place of each token on its page: left, top, right, bottom, in thousandths or, where positions are not looked up, in shares."""
    corners = numpy.sort(random.random((*shape, 2, 2)), axis=-2).reshape(*shape, 4)
    rows = number(getattr(config, "max_2d_position_embeddings", None))
    if rows is None:
        return torch.from_numpy(corners.astype(numpy.float32))
    return torch.from_numpy((corners * (min(rows, 1001) - 1)).astype(numpy.int64))


def normal(random, *shape):
    """Normal noise."""
    return torch.from_numpy(random.normal(0, 1, shape).astype(numpy.float32))
