"""Records `vectors.safetensors`, `processors.json` and `texts.json` next to this file: outputs of Pillow and
transformers for images and texts.

    python crates/runtime/tests/preprocess/record.py

Needs transformers 5, tokenizers, pillow, numpy, safetensors. The same versions give the same bytes.
"""

import json
import os
import shutil
import tempfile

import numpy
import transformers
from PIL import Image
from safetensors.numpy import save_file
from transformers import AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "..", "..", "fixtures")
SIZES = ((9, 11), (40, 31), (23, 8), (5, 17), (64, 3), (1, 1), (23, 17))
PROCESSORS = (
    ("ViTImageProcessor", {"size": 20}),
    ("ViTImageProcessor", {"size": [12, 20], "do_rescale": False}),
    ("ViTImageProcessor", {"do_resize": False, "do_normalize": False, "do_center_crop": True, "crop_size": 30}),
    ("ViTImageProcessor", {"size": {"shortest_edge": 13}, "do_center_crop": True, "crop_size": {"height": 16, "width": 9}}),
    ("ViTImageProcessor", {"size": 11, "image_mean": 0.25, "image_std": 0.75, "rescale_factor": 0.0078125, "resample": 5}),
    ("ConvNextImageProcessor", {"size": 24, "crop_pct": 0.875}),
    ("ConvNextImageProcessor", {"size": {"shortest_edge": 25}, "crop_pct": 0.7, "resample": 0}),
    ("DeiTImageProcessor", {"size": 40, "crop_size": 25}),
    ("BitImageProcessor", {"size": 33, "crop_size": 28}),
    ("CLIPImageProcessor", {"size": {"shortest_edge": 30}, "crop_size": 19, "resample": 1}),
    ("SiglipImageProcessor", {"size": {"height": 21, "width": 14}}),
    ("DetrImageProcessor", {"size": {"shortest_edge": 20, "longest_edge": 31}}),
    ("DetrImageProcessor", {"size": {"shortest_edge": 20, "longest_edge": 24}, "do_pad": False}),
    ("DetrImageProcessor", {"size": 21, "max_size": 25}),
    ("YolosImageProcessor", {"size": {"shortest_edge": 40, "longest_edge": 66}}),
    ("YolosImageProcessor", {"size": {"shortest_edge": 40, "longest_edge": 45}, "resample": 3}),
    ("VideoMAEImageProcessor", {"size": {"shortest_edge": 21}, "crop_size": 16}),
    ("SegformerImageProcessor", {"size": {"height": 19, "width": 26}, "do_reduce_labels": True}),
    ("DPTImageProcessor", {"size": {"height": 30, "width": 18}}),
    ("DPTImageProcessor", {"size": {"height": 30, "width": 18}, "keep_aspect_ratio": True, "ensure_multiple_of": 7}),
    ("DPTImageProcessor", {"size": {"height": 25, "width": 40}, "keep_aspect_ratio": True, "resample": 2}),
    ("MaskFormerImageProcessor", {"size": {"shortest_edge": 20, "longest_edge": 31}, "size_divisor": 8, "ignore_index": 255}),
    ("MaskFormerImageProcessor", {"size": {"shortest_edge": 17, "longest_edge": 40}, "size_divisor": 0}),
    ("Mask2FormerImageProcessor", {"size": {"height": 14, "width": 40}}),
    ("SuperPointImageProcessor", {"size": {"height": 14, "width": 27}}),
)
# Fixtures with their own `tokenizer_config.json`, and with changes that select a class with its own rules.
TOKENIZERS = (
    ("bert", {}),
    ("roberta", {}),
    ("gpt2", {}),
    ("llama", {}),
    ("qwen2", {}),
    ("bert", {"tokenizer_class": "BertTokenizer", "do_lower_case": False}),
    ("bert", {"tokenizer_class": "DistilBertTokenizer", "strip_accents": False, "tokenize_chinese_chars": False}),
    ("roberta", {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True}),
    ("gpt2", {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True}),
    ("llama", {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": True}),
    ("llama", {"tokenizer_class": "LlamaTokenizerFast", "legacy": True}),
    ("llama", {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False}),
    ("electra", {"tokenizer_class": "ElectraTokenizer"}),
    ("albert", {}),
    ("albert", {"do_lower_case": False, "add_prefix_space": False}),
    ("mpnet", {}),
    ("deberta_v2", {}),
    ("deberta_v2", {"do_lower_case": True, "split_by_punct": True, "add_prefix_space": False}),
    ("modernbert", {}),
)
TEXTS = (
    "Été: 東🦀 OK? The dog isn't.",
    "",
    " two  spaces and a tab\t.",
    "The cat [MASK] the <mask> it</s>; <|im_end|><s>the end",
    "it's a word-by-word 1989\n\ntest , isn't it ?",
)


def main():
    random = numpy.random.default_rng(7)
    image = random.integers(0, 256, (23, 17, 3), dtype=numpy.uint8)
    smooth = numpy.indices((23, 17, 3)).astype(numpy.float64)
    wave = (127 + 120 * numpy.sin(smooth[0] * 0.7 + smooth[2]) * numpy.cos(smooth[1] * 0.5)).astype(numpy.uint8)
    tensors = {"image.noise": image, "image.wave": wave}
    for code in range(6):
        for height, width in SIZES:
            for name in ("noise", "wave"):
                resized = Image.fromarray(tensors[f"image.{name}"]).resize((width, height), resample=code)
                tensors[f"resize.{name}.{code}.{height}x{width}"] = numpy.array(resized)
    for index, (name, values) in enumerate(PROCESSORS):
        processor = getattr(transformers, f"{name}Pil")(**values)
        pixels = processor(images=wave, return_tensors="np")["pixel_values"].astype(numpy.float32)
        # A processor of videos takes the image as a video of one frame.
        tensors[f"pixels.{index}"] = pixels[:, 0] if pixels.ndim == 5 else pixels
    save_file(tensors, os.path.join(HERE, "vectors.safetensors"))
    os.chmod(os.path.join(HERE, "vectors.safetensors"), 0o644)
    write_lines("processors.json", [{"image_processor_type": name, **values} for name, values in PROCESSORS])
    records = []
    for name, changes in TOKENIZERS:
        tokenizer, config = changed_tokenizer(name, changes)
        records += [{"fixture": name, "config": config, **record_text(tokenizer, text)} for text in TEXTS]
    write_lines("texts.json", records)


def changed_tokenizer(name, changes):
    """A fixture's tokenizer with changes of its `tokenizer_config.json`, and that file's content."""
    with tempfile.TemporaryDirectory() as directory:
        for file in ("tokenizer.json", "config.json"):
            shutil.copy(os.path.join(FIXTURES, name, file), directory)
        with open(os.path.join(FIXTURES, name, "tokenizer_config.json"), encoding="utf-8") as file:
            config = {**json.load(file), **changes}
        with open(os.path.join(directory, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return AutoTokenizer.from_pretrained(directory), json.dumps(config)


def write_lines(name, values):
    """A JSON array with one value per line."""
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(f" {json.dumps(value, ensure_ascii=False)}" for value in values) + "\n]\n")


def record_text(tokenizer, text):
    """One text alone, as the second of a pair, truncated to eight tokens, and decoded."""
    ids = tokenizer(text)["input_ids"]
    pair = tokenizer([("the dog", text)])
    return {
        "text": text,
        "ids": ids,
        "pair": pair["input_ids"][0],
        # None if the tokenizer returns none.
        "pair_types": pair.get("token_type_ids", [None])[0],
        "cut": tokenizer(text, truncation=True, max_length=8)["input_ids"],
        "decoded": tokenizer.decode(ids),
        "decoded_plain": tokenizer.decode(ids, skip_special_tokens=True),
        "cleaned": tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=True),
    }


if __name__ == "__main__":
    main()
