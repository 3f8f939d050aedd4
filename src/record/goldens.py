"""Records `golden.safetensors` of a Hugging Face checkpoint directory, with transformers as the reference.

    python goldens.py CHECKPOINT_DIR [--seed N] [--force]

The reference is the checkpoint as it is READ BACK from disk, on the CPU, in float32, with eager attention. The noise of the
reference itself is recorded beside the outputs, so that tolerances come from measurement. The same seed and the same
checkpoint give the same bytes: no dates, no paths. Exit codes: 0 recorded, 1 cannot be recorded, 3 a Python package is missing.
"""

import argparse
import contextlib
import copy
import inspect
import json
import os
import re
import struct
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

try:
    import numpy
    import safetensors
    import torch
    import transformers
except ImportError as missing:
    print(f"error: Python package `{missing.name}` is missing; pip install torch transformers safetensors numpy", file=sys.stderr)
    sys.exit(3)

from torch.overrides import TorchFunctionMode
from transformers import AutoConfig, AutoTokenizer, GenerationConfig, GenerationMixin

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import multimodal  # noqa: E402
import time_series  # noqa: E402
import vision_text  # noqa: E402

# Families with a module of their own: what it gives is `cases` and, where hidden states have other names, `trace`.
MODULES = (time_series, vision_text)
import object_detection  # noqa: E402
import vision_text  # noqa: E402
MODULES = (multimodal, time_series, vision_text)

# Families with a module of their own: what it gives is `cases`, where hidden states have other names
# `trace`, and where more is recorded than results `derived`.
MODULES = (object_detection, vision_text)

import object_detection  # noqa: E402
import time_series  # noqa: E402
import vision_text  # noqa: E402

# Families with a module of their own: what it gives is `cases`, where hidden states have other names `trace`, and where more
# is recorded than results `derived`.
MODULES = (object_detection, time_series, vision_text)

ENCODER, DECODER, SEQ2SEQ, VISION = "encoder", "decoder", "seq2seq", "vision"
ENCODER, DECODER, SEQ2SEQ, SPEECH, VISION = "encoder", "decoder", "seq2seq", "speech", "vision"
FAMILIES = {
    "bart": SEQ2SEQ,
    "bert": ENCODER,
    "distilbert": ENCODER,
    "roberta": ENCODER,
    "albert": ENCODER,
    "deberta-v2": ENCODER,
    "electra": ENCODER,
    "modernbert": ENCODER,
    "mpnet": ENCODER,
    "bloom": DECODER,
    "falcon": DECODER,
    "gemma2": DECODER,
    "gpt2": DECODER,
    "gpt_neox": DECODER,
    "hubert": SPEECH,
    "llama": DECODER,
    "marian": SEQ2SEQ,
    "mistral": DECODER,
    "mixtral": DECODER,
    "olmoe": DECODER,
    "opt": DECODER,
    "phi3": DECODER,
    "qwen2": DECODER,
    "convnext": VISION,
    "deit": VISION,
    "dinov2": VISION,
    "qwen3": DECODER,
    "qwen3_moe": DECODER,
    "resnet": VISION,
    "swin": VISION,
    "t5": SEQ2SEQ,
    "vit": VISION,
} | {model_type: module for module in MODULES for model_type in module.MODEL_TYPES}
# Vision models that take images of any size.
ANY_SIZE = ("convnext", "dinov2", "resnet")
    "wav2vec2": SPEECH,
    "whisper": SPEECH,
}
FAMILIES |= {model_type: module for module in MODULES for model_type in module.MODEL_TYPES}
# Other heads need inputs that a golden does not describe yet (choices, pairs of sentences, masked patches).
HEADS = (
    "Model",
    "ForPreTraining",
    "ForMaskedLM",
    "ForCausalLM",
    "ForConditionalGeneration",
    "MTModel",
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForImageClassification",
    "ForConditionalGeneration",
    "ForPrediction",
    "ForClassification",
    "ForRegression",
    "ForImageClassificationWithTeacher",
    "ForObjectDetection",
    "ForCTC",
)
PRECISIONS = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json")
# The first text of a pair holds what front ends get wrong: accents, upper case, CJK, an emoji, characters no vocabulary has.
# The second is much shorter, so that the pair is padded.
TEXTS = (
    ("Été: 東🦀 OK? The dog isn't.", "I saw."),
    ("naïve ÜBER 京  (½), so it's", "Words!"),
    ("Ça, 1989-中🙂! It is\nthe other", "two"),
)
NEW_TOKENS = 16


class RecordError(Exception):
    """The checkpoint cannot be recorded; the message says why, and where possible what to do."""


def main():
    """Reads the command line, records, and turns expected failures into one line and an exit code."""
    parser = argparse.ArgumentParser(description="record golden.safetensors of a checkpoint directory")
    parser.add_argument("checkpoint", help="directory as `save_pretrained` writes it")
    parser.add_argument("--seed", type=int, default=0, help="chooses inputs (default 0)")
    parser.add_argument("--force", action="store_true", help="replace an existing golden.safetensors")
    arguments = parser.parse_args()
    try:
        path = record(arguments.checkpoint, arguments.seed, arguments.force)
    except ImportError as missing:
        print(f"error: {first_line(missing)}; pip install pillow tokenizers sentencepiece", file=sys.stderr)
        return 3
    except RecordError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(path)
    return 0


def record(directory, seed=0, force=False):
    """Records `directory`/golden.safetensors and returns its path."""
    path = os.path.join(directory, "golden.safetensors")
    if os.path.exists(path) and not force:
        raise RecordError(f"`{path}` exists; give --force to replace it")
    quiet_and_repeatable()
    config = read_config(directory)
    model_class = class_of(config)
    model = load(model_class, directory, torch.float32)
    random = numpy.random.default_rng(seed)
    family = FAMILIES[config.model_type]
    if family in MODULES:
        cases, tensors, metadata = family.cases(sys.modules[__name__], directory, config, random, seed)
    elif family == VISION:
        cases, tensors, metadata = vision_cases(directory, config, random)
    elif FAMILIES[config.model_type] == SPEECH:
        cases, tensors, metadata = speech_cases(directory, config, random)
    else:
        cases, tensors, metadata = text_cases(directory, config, random, seed)
    metadata |= describe(model_class, config, seed)
    with refusal(f"`{type(model).__name__}` refuses the inputs"):
        results = run_all(model, cases)
    if hasattr(family, "derived"):
        tensors |= family.derived(sys.modules[__name__], directory, tensors, results)
    tensors |= named_tensors(cases, results)
    metadata |= noise_of(model_class, directory, cases, results)
    if family == DECODER and model.can_generate():
        tensors |= generate(model, config, random)
    if "decoder_input_ids" in cases[0] and model.can_generate():
        tensors |= generate_from_source(model, config, cases[0])
    elif getattr(family, "GENERATES", False):
        tensors |= generate(model, config.text_config, random, family.prompt(sys.modules[__name__], config, random))
    write_safetensors(path, tensors, metadata)
    return path


# --- the checkpoint ---


def quiet_and_repeatable():
    """One thread, because the order of a parallel sum may change from run to run."""
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def read_config(directory):
    """The config of a supported model type, or an error that lists what is supported."""
    path = os.path.join(directory, "config.json")
    if not os.path.isfile(path):
        raise RecordError(f"`{path}` does not exist; give a directory as `save_pretrained` writes it")
    with refusal(f"`{path}` cannot be read"), open(path, encoding="utf-8") as file:
        model_type = json.load(file).get("model_type")
        if model_type not in FAMILIES:
            raise RecordError(f"model_type `{model_type}` is not supported; supported are {', '.join(sorted(FAMILIES))}")
        return AutoConfig.from_pretrained(directory)


def class_of(config):
    """The transformers class that config.json names; a guess would record another model's outputs."""
    name = (config.architectures or [None])[0]
    if name is None:
        raise RecordError("config.json has no `architectures`; add the transformers class, such as `BertModel`")
    if not name.endswith(HEADS) or name.endswith("DoubleHeadsModel"):
        raise RecordError(f"class `{name}` is not supported; it must end in one of {', '.join(HEADS)}")
    model_class = getattr(transformers, name, None)
    if model_class is None:
        raise RecordError(f"transformers {transformers.__version__} has no class `{name}`")
    return model_class


def load(model_class, directory, dtype):
    """The model from disk in `dtype`; refuses a checkpoint that leaves weights to chance."""
    name = model_class.__name__
    with refusal(f"`{directory}` does not load as `{name}`"):
        model, information = model_class.from_pretrained(
            directory,
            dtype=dtype,
            attn_implementation=attention_of(AutoConfig.from_pretrained(directory)),
            experts_implementation="eager",
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
    missing = sorted(information["missing_keys"])
    if missing:
        raise RecordError(f"`{directory}` lacks {len(missing)} weights of `{name}`, such as `{missing[0]}`")
    mismatched = sorted(information["mismatched_keys"])
    if mismatched:
        key, found, wanted = mismatched[0]
        raise RecordError(f"weight `{key}` has shape {list(found)}, but config.json asks for {list(wanted)}")
    return model.eval()


def attention_of(config):
    """Eager attention, as for everything; but that of Falcon adds its linear biases twice, and only the usual one is right.

    In float16 the usual one does not make rows without any visible token uniform, so left padding is not recorded with it.
    """
    return "sdpa" if config.model_type == "falcon" and config.alibi else "eager"


def describe(model_class, config, seed):
    """Metadata that says what made the golden and how to make it again."""
    return {
        "model_class": model_class.__name__,
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "safetensors": safetensors.__version__,
        "dtype": "float32",
        "attention": attention_of(config),
        "seed": str(seed),
        "command": f"python goldens.py CHECKPOINT_DIR --seed {seed} --force",
    }


# --- inputs: text ---


def text_cases(directory, config, random, seed):
    """Main case (right padding), a longer case without padding, and for decoders one with left padding."""
    limit = position_limit(config)
    tokenizer = read_tokenizer(directory)
    main_case, metadata = text_main_case(tokenizer, config, random, seed, limit)
    long_length = min(int(random.integers(33, 38)), limit)
    if rope_type(config) == "dynamic" and config.max_position_embeddings <= 128:
        long_length = config.max_position_embeddings + 7
    long_case = padded_case(config, random, [long_length] * 2)
    cases = [with_token_types(main_case, config), with_token_types(long_case, config)]
    if FAMILIES[config.model_type] == SEQ2SEQ and "Classification" in config.architectures[0]:
        cases = [with_end(case, config) for case in cases]
    elif FAMILIES[config.model_type] == SEQ2SEQ:
        cases = [with_decoder(cases[0], config, random, limit, (9, 6)), with_decoder(cases[1], config, random, limit, (34, 34))]
    if FAMILIES[config.model_type] == DECODER and attention_of(config) == "eager":
        cases.append(left_padded_case(config, random, limit))
    return cases, {}, metadata


def text_main_case(tokenizer, config, random, seed, limit):
    """Ids of texts where the checkpoint has a tokenizer, else random ids."""
    if tokenizer is None:
        lengths = [min(length, limit) for length in (int(random.integers(11, 18)), int(random.integers(4, 9)))]
        return padded_case(config, random, lengths), {"pad_token_id": str(pad_id(config))}
    texts = list(TEXTS[seed % len(TEXTS)])
    while max(len(ids) for ids in tokenizer(texts)["input_ids"]) > limit:
        texts = [text[: len(text) * 3 // 4] for text in texts]
    encoded = tokenizer(texts, padding="longest", padding_side="right", return_tensors="pt")
    ids = encoded["input_ids"]
    if int(ids.max()) >= config.vocab_size:
        raise RecordError(f"the tokenizer gives id {int(ids.max())}, but vocab_size is {config.vocab_size}")
    case = {"input_ids": ids, "attention_mask": encoded["attention_mask"]}
    return case, {"text": json.dumps(texts, ensure_ascii=False), "pad_token_id": str(tokenizer.pad_token_id)}


def read_tokenizer(directory):
    """The checkpoint's tokenizer, or None; one without a pad token pads with its end token, as is customary."""
    if not any(os.path.isfile(os.path.join(directory, name)) for name in TOKENIZER_FILES):
        return None
    with refusal(f"the tokenizer of `{directory}` does not load"):
        tokenizer = AutoTokenizer.from_pretrained(directory)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def padded_case(config, random, lengths, side="right"):
    """Random ids of the given lengths; the pad id is not drawn, because RoBERTa and classifiers give it a meaning."""
    width = max(lengths)
    ids = numpy.full((len(lengths), width), pad_id(config), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    drawable = numpy.setdiff1d(numpy.arange(config.vocab_size), [pad_id(config)])
    for row, length in enumerate(lengths):
        place = slice(0, length) if side == "right" else slice(width - length, width)
        ids[row, place] = random.choice(drawable, length)
        mask[row, place] = 1
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}


def left_padded_case(config, random, limit):
    """Left padding with the position ids that `generate()` builds."""
    case = padded_case(config, random, [min(length, limit) for length in (11, 7, 4)], side="left")
    mask = case["attention_mask"]
    case["position_ids"] = (mask.cumsum(-1) - 1).masked_fill(mask == 0, 0)
    return case


def with_decoder(case, config, random, limit, lengths):
    """Adds what the decoder reads: its start token and random ids, padded on the right, with their mask."""
    decoder = padded_case(decoder_vocabulary(config), random, [min(length, limit) for length in lengths])
    decoder["input_ids"][:, 0] = start_id(config)
    return case | {f"decoder_{name}": value for name, value in decoder.items()}


def with_end(case, config):
    """Random ids end with the end token and have it nowhere else: classifiers with a decoder look for it."""
    ids, mask = case["input_ids"], case["attention_mask"]
    last = mask.sum(-1) - 1
    if not (ids.gather(1, last[:, None]) == config.eos_token_id).all():
        ids[ids == config.eos_token_id] = (config.eos_token_id + 1) % config.vocab_size
        ids.scatter_(1, last[:, None], config.eos_token_id)
    return case


def decoder_vocabulary(config):
    """A config whose `vocab_size` is that of the decoder: Marian may have two."""
    if getattr(config, "decoder_vocab_size", None) is None:
        return config
    config = copy.deepcopy(config)
    config.vocab_size = config.decoder_vocab_size
    return config


def start_id(config):
    """The token that the decoder begins with; T5 configs may leave it out, and it is the pad token then."""
    return next(i for i in (config.decoder_start_token_id, config.pad_token_id, 0) if i is not None)


def with_token_types(case, config):
    """Adds token types 0 and 1 (second half of each row) where the model has both."""
    if FAMILIES[config.model_type] == ENCODER and getattr(config, "type_vocab_size", 0) >= 2:
        mask = case["attention_mask"]
        second_half = (mask.cumsum(-1) > mask.sum(-1, keepdim=True) // 2) & (mask == 1)
        case["token_type_ids"] = second_half.to(torch.int64)
    return case


def pad_id(config):
    """The id that fills padding; models without a pad token mask it, so any id serves."""
    end = config.eos_token_id[0] if isinstance(config.eos_token_id, list) else config.eos_token_id
    return next((i for i in (config.pad_token_id, end) if i is not None and 0 <= i < config.vocab_size), 0)


def rope_type(config):
    """The rotary embedding's kind, or None for learned positions."""
    return (getattr(config, "rope_parameters", None) or {}).get("rope_type")


def position_limit(config):
    """The longest sequence the position table allows; other kinds of positions have none that matters here."""
    if rope_type(config) is not None or getattr(config, "max_position_embeddings", None) is None:
        return 2**30
    reserved = {"roberta": (config.pad_token_id or 0) + 1, "mpnet": 2}.get(config.model_type, 0)
    return config.max_position_embeddings - reserved


# --- inputs: images ---


def vision_cases(directory, config, random):
    """Main case from images where the checkpoint has an image processor, and a second batch of another size or count."""
    height, width = image_size(config)
    tensors, metadata = {}, {}
    if config.num_channels == 3 and os.path.isfile(os.path.join(directory, "preprocessor_config.json")):
        images, pixels, metadata = processed_images(directory, height, width, random)
        tensors = {f"image.{index}": torch.from_numpy(image) for index, image in enumerate(images)}
    else:
        pixels = random_pixels(random, 2, config.num_channels, height, width)
    height, width = pixels.shape[-2:]
    if config.model_type in ANY_SIZE:
        height, width = height - 8, width + 12
    other = random_pixels(random, 3, config.num_channels, height, width)
    return [{"pixel_values": pixels}, {"pixel_values": other}], tensors, metadata


def image_size(config):
    """Height and width the model wants; a convolutional model takes any, and a small one that is not square tests more."""
    size = getattr(config, "image_size", None) or (64, 48)
    return (size, size) if isinstance(size, int) else tuple(size)


def processed_images(directory, height, width, random):
    """Images, what the checkpoint's own processor (PIL backend) makes of them, and its name for the metadata."""
    with refusal(f"the image processor of `{directory}` does not load"):
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


def draw_image(random, height, width):
    """An RGB image [height, width, 3] of waves, a rectangle and some noise: noise alone would hide a wrong resize kernel."""
    image = waves(random, 3, height, width)
    top, left = int(random.integers(height // 4)), int(random.integers(width // 4))
    image[:, top : top + height // 2, left : left + width // 3] += random.uniform(-1.5, 1.5, (3, 1, 1))
    image += random.normal(0, 0.1, image.shape)
    return numpy.ascontiguousarray(numpy.clip(image * 60 + 128, 0, 255).astype(numpy.uint8).transpose(1, 2, 0))


def random_pixels(random, count, channels, height, width):
    """Normalised pixel values [count, channels, height, width] near unit scale: smooth waves with noise."""
    pixels = numpy.stack([waves(random, channels, height, width) for _ in range(count)])
    return torch.from_numpy((pixels + random.normal(0, 0.3, pixels.shape)).astype(numpy.float32))


def waves(random, channels, height, width):
    """Smooth patterns [channels, height, width], different in every channel, so that a swapped channel shows."""
    down = numpy.linspace(0, 1, height)[:, None]
    across = numpy.linspace(0, 1, width)[None, :]
    slopes, phases = random.uniform(-12, 12, (channels, 2)), random.uniform(0, 6, channels)
    return numpy.stack([1.4 * numpy.sin(a * down + b * across + p) for (a, b), p in zip(slopes, phases)])


# --- inputs: recordings ---


def speech_cases(directory, config, random):
    """Main case of two recordings where the checkpoint has a feature extractor, and a second batch without padding."""
    tensors, metadata = {}, {}
    if os.path.isfile(os.path.join(directory, "preprocessor_config.json")):
        recordings, main_case, metadata = extracted_features(directory, random)
        tensors = {f"audio.{index}": torch.from_numpy(samples) for index, samples in enumerate(recordings)}
    else:
        main_case = random_features(config, random, 2, 1437)
    cases = [main_case, random_features(config, random, 3, 1900)]
    if getattr(config, "max_target_positions", None):
        limit = config.max_target_positions
        lengths = ((9, 6), (34, 34, 34))
        cases = [with_decoder(case, config, random, limit, lengths[index]) for index, case in enumerate(cases)]
    return cases, tensors, metadata


def extracted_features(directory, random):
    """Recordings, what the checkpoint's own feature extractor makes of them, and its name for the metadata."""
    with refusal(f"the feature extractor of `{directory}` does not load"):
        extractor = transformers.AutoFeatureExtractor.from_pretrained(directory)
    rate, longest = extractor.sampling_rate, getattr(extractor, "n_samples", 2**30)
    lengths = [min(length, longest) for length in (int(random.integers(2600, 3000)), int(random.integers(1500, 1800)))]
    recordings = [draw_sound(random, length, rate) for length in lengths]
    padding = "max_length" if longest < 2**30 else "longest"
    features = extractor(recordings, sampling_rate=rate, padding=padding, return_tensors="pt")
    case = {name: value.to(torch.int64) if name == "attention_mask" else value for name, value in features.items()}
    return recordings, case, {"feature_extractor": type(extractor).__name__}


def draw_sound(random, length, rate):
    """Samples of three gliding tones over some noise: tones alone would hide what stands between the mel bins."""
    seconds = numpy.arange(length) / rate
    tones = [
        random.uniform(0.05, 0.3) * numpy.sin(2 * numpy.pi * (frequency + random.uniform(-800, 800) * seconds) * seconds + phase)
        for frequency, phase in zip(random.uniform(150, 3000, 3), random.uniform(0, 6, 3))
    ]
    return (sum(tones) + random.normal(0, 0.02, length) + 0.05).astype(numpy.float32)


def random_features(config, random, count, samples):
    """Input near unit scale: a spectrogram of the length that the model takes, or samples."""
    if getattr(config, "num_mel_bins", None) and getattr(config, "max_source_positions", None):
        shape = (count, config.num_mel_bins, 2 * config.max_source_positions)
        return {"input_features": torch.from_numpy(random.normal(0, 0.7, shape).astype(numpy.float32))}
    sounds = numpy.stack([draw_sound(random, samples, 16000) for _ in range(count)])
    return {"input_values": torch.from_numpy((sounds - 0.05) * 5)}


# --- outputs ---


class Float64Throughout(TorchFunctionMode):
    """Turns the casts to float32 inside model code (norms, softmax, rotary tables) into casts to float64.

    Without it the "float64" run of an RMS norm would round to float32 and the recorded noise would look too small.
    """

    CASTS = (torch.Tensor.to, torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        elif func in self.CASTS:
            args = tuple(torch.float64 if value is torch.float32 else value for value in args)
            kwargs = {key: torch.float64 if value is torch.float32 else value for key, value in kwargs.items()}
        return func(*args, **kwargs)


def run_all(model, cases):
    """Per case a dict of named results; the main case also holds the hidden states as `trace.*`."""
    return [run(model, case, trace=index == 0) for index, case in enumerate(cases)]


@torch.no_grad()
def run(model, case, trace):
    """The tensors of one forward call by the names of its result."""
    inputs = {name: value.to(model.dtype) if value.is_floating_point() else value for name, value in case.items()}
    if "use_cache" in inspect.signature(model.forward).parameters:
        inputs["use_cache"] = False
    routers = {}
    with watched_routers(model, case, routers):
        result = model(**inputs, output_hidden_states=trace, return_dict=True)
    named = {name: value for name, value in result.items() if isinstance(value, torch.Tensor)}
    family = FAMILIES.get(model.config.model_type)
    named = {name: value for name, value in named.items() if name not in getattr(family, "IGNORED", ())}
    if trace and hasattr(family, "trace"):
        named |= family.trace(result)
    elif trace:
        for stack in ("", "encoder_", "decoder_"):
            named |= traces(stack.replace("_", "."), result.get(f"{stack}hidden_states"))
    return named


def traces(stack, states):
    """Hidden states by the names of the golden format."""
    name = lambda i: "embed" if i == 0 else f"layer.{i - 1}"
    return {f"trace.{stack}{name(i)}": state for i, state in enumerate(states or ())}
    if trace:
        named |= routers
        states = result.hidden_states
        named |= {"trace.embed" if i == 0 else f"trace.layer.{i - 1}": state for i, state in enumerate(states)}
    return named


@contextlib.contextmanager
def watched_routers(model, case, routers):
    """Fills `routers` with `router.<layer>` (probabilities) and `routing.<layer>` (weights of the chosen experts, 0 for the
    others), each [batch, seq, experts], while `model` runs `case`."""

    def keep(layer):
        def hook(_module, _arguments, result):
            logits, weights, chosen = result
            shape = [*case["input_ids"].shape, logits.shape[-1]]
            routers[f"router.{layer}"] = torch.softmax(logits.float(), -1).reshape(shape)
            routers[f"routing.{layer}"] = torch.zeros_like(logits, dtype=weights.dtype).scatter(-1, chosen, weights).reshape(shape)

        return hook

    found = [(name, module) for name, module in model.named_modules() if type(module).__name__.endswith("TopKRouter")]
    hooks = [module.register_forward_hook(keep(re.search(r"layers\.(\d+)\.", name)[1])) for name, module in found]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def named_tensors(cases, results):
    """Inputs and outputs under the names of the golden format."""
    tensors = {}
    for index, (case, result) in enumerate(zip(cases, results)):
        prefix = f"case.{index}." if index else ""
        tensors |= {f"{prefix}input.{name}": value for name, value in case.items()}
        for name, value in result.items():
            if not torch.isfinite(value).all():
                raise RecordError(f"`{name}` is not finite in float32; the checkpoint cannot serve as a reference")
            tensors[name if name.startswith(("trace.", "router.", "routing.")) else f"{prefix}output.{name}"] = value
    return tensors


def noise_of(model_class, directory, cases, results):
    """Metadata `noise.*`: the reference's own error in each compute type, the largest over the cases."""
    reference, named = float64_results(model_class, directory, cases), "float64"
    if reference is None:
        reference, named = results, "float32"
    metadata = {"noise.reference": named}
    for precision, dtype in PRECISIONS.items():
        if dtype == torch.float32 and named == "float32":
            continue
        found = results if dtype == torch.float32 else run_all(load(model_class, directory, dtype), cases)
        metadata[f"noise.{precision}"] = json.dumps(largest_errors(found, reference), sort_keys=True)
    return metadata


def float64_results(model_class, directory, cases):
    """The float64 run of the weights as float32 reads them, or None where a model insists on float32."""
    model = load(model_class, directory, torch.float32).to(torch.float64)
    try:
        with Float64Throughout():
            return run_all(model, cases)
    except RuntimeError:
        return None


def largest_errors(found, reference):
    """{name: [relative L2, relative maximum]}; a name that overflows in this type has no entry."""
    errors = {}
    for one, other in zip(found, reference):
        for name, value in one.items():
            pair = relative_errors(value.double(), other[name].double())
            errors[name] = [max(old, new) for old, new in zip(errors.get(name, (0.0, 0.0)), pair)]
    return {name: pair for name, pair in errors.items() if all(numpy.isfinite(pair))}


def relative_errors(value, reference):
    """|d| / |ref| and max|d| / max|ref|, to three digits; not a number counts as infinite."""
    difference = (value - reference).nan_to_num(nan=float("inf"))
    ratios = (difference.norm() / reference.norm(), difference.abs().max() / reference.abs().max())
    return [float(f"{float(ratio):.3g}") for ratio in ratios]


def generate(model, config, random, prompt=None):
    """Greedy tokens with the cache, their raw logits and top-1/top-2 gaps; a fresh generation config has no end token."""
    length = min(8, position_limit(config) // 2)
    prompt = padded_case(config, random, [length, length]) if prompt is None else prompt
    length = prompt["input_ids"].shape[1]
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=min(NEW_TOKENS, position_limit(config) - length),
        return_dict_in_generate=True,
        output_logits=True,
        pad_token_id=pad_id(config),
    )
    with torch.no_grad():
        result = model.generate(**prompt)
    logits = torch.stack(result.logits, dim=1).float()
    top = logits.topk(2, dim=-1).values
    return {
        "tokens.prompt": prompt["input_ids"],
        **{f"tokens.{name}": prompt[name] for name in ("pixel_values",) if name in prompt},
        "tokens.greedy": result.sequences[:, length:],
        "tokens.logits": logits,
        "margin.greedy": top[..., 0] - top[..., 1],
    }


def generate_from_source(model, config, case):
    """As `generate`, from the encoder's input of the main case; the decoder begins with its start token.

    The cache of transformers has as many layers as the encoder, so a deeper decoder generates without.
    """
    decoder_layers = getattr(config, "num_decoder_layers", None) or getattr(config, "decoder_layers", 0)
    source = {name: value for name, value in case.items() if not name.startswith("decoder_")}
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=min(NEW_TOKENS, getattr(config, "max_target_positions", position_limit(config)) - 1),
        decoder_start_token_id=start_id(config),
        use_cache=decoder_layers <= config.num_hidden_layers,
        return_dict_in_generate=True,
        output_logits=True,
        pad_token_id=pad_id(config),
    )
    with torch.no_grad():
        # Whisper's own `generate` cuts recordings into segments.
        result = GenerationMixin.generate(model, **source)
    logits = torch.stack(result.logits, dim=1).float()
    top = logits.topk(2, dim=-1).values
    return {
        "tokens.start": result.sequences[:, :1],
        "tokens.greedy": result.sequences[:, 1:],
        "tokens.logits": logits,
        "margin.greedy": top[..., 0] - top[..., 1],
    }


# --- the file ---


def write_safetensors(path, tensors, metadata):
    """Own code, because the safetensors library does not keep metadata in a fixed order."""
    arrays = {name: numpy.ascontiguousarray(value.detach().numpy()) for name, value in tensors.items()}
    kinds = {"float32": "F32", "int64": "I64", "uint8": "U8"}
    header, position = {"__metadata__": dict(sorted(metadata.items()))}, 0
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in names:
        array = arrays[name]
        span = [position, position + array.nbytes]
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape), "data_offsets": span}
        position = span[1]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    content = struct.pack("<Q", len(text)) + text + b"".join(arrays[name].tobytes() for name in names)
    replace_file(path, content)


def replace_file(path, content):
    """Renames a finished temporary file to `path`, so that no reader ever sees half of it."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)


@contextlib.contextmanager
def refusal(what):
    """Turns whatever a library raises about a user's files into one line; a missing package stays an ImportError."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:
        raise RecordError(f"{what}: {first_line(error)}") from error


def first_line(error):
    """The first line of an error's text: messages of transformers can be pages long."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


if __name__ == "__main__":
    sys.exit(main())
