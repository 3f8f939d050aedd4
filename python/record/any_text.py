"""Token ids for types without a native implementation."""

import json

import numpy
import torch

from record.measured_sizes import TEXT, first, number, position_limit, special_ids, text_config, token_ids, vocabulary_size
from reference import forward_arguments
from reference.text_inputs import TEXTS, read_tokenizer

IMAGE_TOKENS = ("image_token_id", "image_token_index", "media_token_id", "image_pad_token_id", "img_context_token_id", "im_patch_id")
AUDIO_TOKENS = ("audio_token_id", "audio_token_index")
# The token before the tokens of an image, by which some models count images.
STARTS = ("vision_start_token_id", "image_start_token_id", "boi_token_id")


class Text:
    """Draws the text arguments of a model."""

    def __init__(self, model, directory, config, seed):
        self.model, self.config, self.seed = model, config, seed
        self.taken = forward_arguments.names(model)
        self.size, self.limit = vocabulary_size(model, config), position_limit(model, config)
        inner = text_config(config)
        self.end = token_ids(inner, ("eos_token_id",))
        pad = token_ids(inner, ("pad_token_id",))
        self.pad = next(one for one in (pad, self.end, 0) if one is not None and one < self.size)
        self.tokenizer = read_tokenizer(directory)
        excluded = [self.pad, *(one for one in special_ids(config) if one < self.size)]
        self.drawable = numpy.setdiff1d(numpy.arange(self.size), excluded)
        if len(self.drawable) < 2:
            self.drawable = numpy.arange(self.size)

    @property
    def masked(self):
        """Whether texts may be padded."""
        return "attention_mask" in self.taken

    def main(self, random):
        """Two texts, padded on the right, and metadata: those of the tokenizer if the checkpoint has one."""
        lengths = [min(length, self.limit) for length in (int(random.integers(11, 18)), int(random.integers(4, 9)))]
        if self.tokenizer is None or not self.masked:
            return self.drawn(random, lengths if self.masked else [lengths[0]] * 2), {"pad_token_id": str(self.pad)}
        texts = list(TEXTS[self.seed % len(TEXTS)])
        while max(len(ids) for ids in self.tokenizer(texts)["input_ids"]) > self.limit:
            texts = [text[: len(text) * 3 // 4] for text in texts]
        encoded = self.tokenizer(texts, padding="longest", padding_side="right", return_tensors="pt")
        if int(encoded["input_ids"].max()) >= self.size:
            return self.drawn(random, lengths), {"pad_token_id": str(self.pad)}
        metadata = {"text": json.dumps(texts, ensure_ascii=False), "pad_token_id": str(self.tokenizer.pad_token_id)}
        return {name: encoded[name] for name in ("input_ids", "attention_mask")}, metadata

    def longer(self, random):
        """Two longer texts without padding."""
        return self.drawn(random, [min(int(random.integers(33, 38)), self.limit)] * 2)

    def left(self, random):
        """Three texts, padded on the left, with the position ids that `generate()` builds."""
        case = self.drawn(random, [min(length, self.limit) for length in (11, 7, 4)], side="left")
        mask = case["attention_mask"]
        return case | {"position_ids": (mask.cumsum(-1) - 1).masked_fill(mask == 0, 0)}

    def drawn(self, random, lengths, side="right", drawable=None):
        """Random ids of the given lengths without ids that have a meaning, and their mask if the model takes one."""
        width = max(lengths)
        ids, mask = numpy.full((len(lengths), width), self.pad, dtype=numpy.int64), numpy.zeros((len(lengths), width), dtype=numpy.int64)
        for row, length in enumerate(lengths):
            place = slice(0, length) if side == "right" else slice(width - length, width)
            ids[row, place] = random.choice(self.drawable if drawable is None else drawable, length)
            mask[row, place] = 1
        case = {"input_ids": torch.from_numpy(ids)}
        return case | ({"attention_mask": torch.from_numpy(mask)} if self.masked else {})

    def codes(self):
        """None for ids of texts, then shapes of ids of codebooks: a column for each codebook, and perhaps one for a text, or a row."""
        count = number(first(self.config, TEXT, ("num_codebooks",)))
        return [None, *((("column", count), ("column", count + 1), ("row", count)) if count and count > 1 else ())]

    def coded(self, random, case, codes):
        """The case with ids of codebooks, small ones, because each codebook may have another size."""
        shape, count = codes
        rows, length = case["input_ids"].shape
        sizes = (rows, length, count) if shape == "column" else (rows * count, length)
        return case | {"input_ids": torch.from_numpy(random.choice(self.drawable[:16], sizes))}

    def with_end(self, case):
        """The last token of each row becomes the end token, which classifiers with a decoder and dual encoders search for."""
        if self.end is None or self.end >= self.size:
            return case
        ids = case["input_ids"]
        last = case["attention_mask"].sum(-1) - 1 if "attention_mask" in case else torch.full((len(ids),), ids.shape[1] - 1)
        ids[ids == self.end] = int(self.drawable[0])
        ids[torch.arange(len(ids)), last] = self.end
        return case

    def with_types(self, case):
        """Adds token types 0 and 1 (second half of each row) if the model has both."""
        types = getattr(text_config(self.config), "type_vocab_size", 0)
        if "token_type_ids" not in self.taken or not isinstance(types, int) or types < 2 or not self.masked:
            return case
        mask = case["attention_mask"]
        second = (mask.cumsum(-1) > mask.sum(-1, keepdim=True) // 2) & (mask == 1)
        return case | {"token_type_ids": second.to(torch.int64)}

    def with_decoder(self, random, case, rows, lengths):
        """Adds the decoder's ids: its start token and random ids, with a mask if the model takes one."""
        size = token_ids(self.config, ("decoder_vocab_size", "tgt_vocab_size")) or self.decoder_size
        drawable = numpy.setdiff1d(numpy.arange(size), special_ids(self.config))
        limit = min(self.limit, token_ids(self.config, ("max_target_positions",)) or self.limit)
        masked = "decoder_attention_mask" in self.taken
        lengths = [min(length, limit) for length in lengths] if masked else [min(lengths[0], limit)] * rows
        found = self.drawn(random, lengths, drawable=drawable if len(drawable) > 1 else numpy.arange(size))
        found["input_ids"][:, 0] = min(self.start, size - 1)
        found = found if masked else {"input_ids": found["input_ids"]}
        if masked and "attention_mask" not in found:
            found["attention_mask"] = torch.ones_like(found["input_ids"])
        return case | {f"decoder_{name}": value for name, value in found.items()}

    @property
    def decoder_size(self):
        """The vocabulary of the decoder, if a part of the configuration is that of a decoder."""
        decoder = getattr(self.config, "decoder", None)
        return getattr(decoder, "vocab_size", None) or self.size

    @property
    def start(self):
        """The first token of the decoder."""
        found = token_ids(self.config, ("decoder_start_token_id",))
        return found if found is not None else self.pad

    def with_places(self, case, token, count):
        """The case with tokens in the place of an image or a sound in every row, before the last two tokens of the shortest row."""
        ids, mask = case["input_ids"], case.get("attention_mask")
        shortest = ids.shape[1] if mask is None else int(mask.sum(-1).min())
        start_token = token_ids(self.config, STARTS)
        inserted = [token] * count if start_token is None else [start_token, *[token] * count]
        place = max(shortest - 2, 1) if mask is None or int(mask[:, 0].min()) else max(ids.shape[1] - 2, 1)
        values = torch.tensor([inserted])

        def put(row, part):
            return torch.cat([row[:, :place], part.expand(len(row), -1), row[:, place:]], 1)

        found = {"input_ids": put(ids, values)}
        if mask is not None:
            found["attention_mask"] = put(mask, torch.ones_like(values))
        if "position_ids" in case:
            full = found["attention_mask"]
            found["position_ids"] = (full.cumsum(-1) - 1).masked_fill(full == 0, 0)
        if "mm_token_type_ids" in self.taken:
            found["mm_token_type_ids"] = (found["input_ids"] == token).to(torch.int64)
        return found
