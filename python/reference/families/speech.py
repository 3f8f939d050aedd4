"""Inputs of speech and audio models."""

import os

import numpy
import torch
import transformers

from reference import generation
from reference.decoder_inputs import with_decoder
from reference.errors import user_error
from reference.rounded_inputs import rounded


def cases(directory, config, random, _seed):
    """Main case of two sounds where the checkpoint has a feature extractor, and a second batch without padding."""
    tensors, metadata = {}, {}
    if os.path.isfile(os.path.join(directory, "preprocessor_config.json")):
        recordings, main_case, metadata = extracted_features(directory, random)
        tensors = {f"audio.{index}": torch.from_numpy(samples) for index, samples in enumerate(recordings)}
    else:
        main_case = random_features(config, random, 2, 1437)
    found = [main_case, random_features(config, random, 3, 1900)]
    if getattr(config, "max_target_positions", None) and "Classification" not in config.architectures[0]:
        limit = config.max_target_positions
        lengths = ((9, 6), (34, 34, 34))
        found = [with_decoder(case, config, random, limit, lengths[index]) for index, case in enumerate(found)]
    return found, tensors, metadata


def generated(model, config, _random, cases):
    """Greedy tokens from the audio of the main case."""
    return generation.generate_from_source(model, config, cases[0]) if "decoder_input_ids" in cases[0] else {}


def extracted_features(directory, random):
    """Audio, the output of the checkpoint's feature extractor, and its name for the metadata."""
    with user_error(f"the feature extractor of `{directory}` does not load"):
        extractor = transformers.AutoFeatureExtractor.from_pretrained(directory)
    rate, longest = extractor.sampling_rate, getattr(extractor, "n_samples", 2**30)
    lengths = [min(length, longest) for length in (int(random.integers(2600, 3000)), int(random.integers(1500, 1800)))]
    recordings = [draw_sound(random, length, rate) for length in lengths]
    padding = "max_length" if longest < 2**30 else "longest"
    features = extractor(recordings, sampling_rate=rate, padding=padding, return_tensors="pt")
    case = {name: value.to(torch.int64) if name == "attention_mask" else value for name, value in features.items()}
    return recordings, case, {"feature_extractor": type(extractor).__name__}


def draw_sound(random, length, rate):
    """Samples of three gliding tones over some noise: tones alone would not test the mel bins between them."""
    seconds = numpy.arange(length) / rate
    tones = [
        random.uniform(0.05, 0.3) * numpy.sin(2 * numpy.pi * (frequency + random.uniform(-800, 800) * seconds) * seconds + phase)
        for frequency, phase in zip(random.uniform(150, 3000, 3), random.uniform(0, 6, 3), strict=True)
    ]
    return (sum(tones) + random.normal(0, 0.02, length) + 0.05).astype(numpy.float32)


def random_features(config, random, count, samples):
    """Input near unit scale: a spectrogram of the length that the model takes, or samples."""
    if getattr(config, "num_mel_bins", None) and getattr(config, "max_source_positions", None):
        shape = (count, config.num_mel_bins, 2 * config.max_source_positions)
        return {"input_features": rounded(config, random.normal(0, 0.7, shape))}
    sounds = numpy.stack([draw_sound(random, samples, 16000) for _ in range(count)])
    return {"input_values": rounded(config, (sounds - 0.05) * 5)}
