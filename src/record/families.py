"""The families of model types: a module for each, named as the architecture.

A module has `MODEL_TYPES` and `cases`, which gives the inputs. Where hidden states have other names it has `trace`, where more is
recorded than results `derived`, where it generates `generated`, where a loaded model lacks a
part `prepare`, where attention is not eager `attention`, where it chooses what is read `CHOOSES`; and where the library is
not transformers `class_of`, `load`, `run` and `describe`. `IGNORED` names results that are no row of the batch. `TRANSFORMERS`
is the version that records it, where that is an old one, and `INSTALL` what to do about it.
"""

import decoder_only
import diffusion
import encoder_decoder
import encoder_only
import graph
import multimodal
import object_detection
import rag
import speech
import time_series
import vision
import vision_text

MODULES = (
    encoder_only,
    decoder_only,
    encoder_decoder,
    speech,
    vision,
    vision_text,
    object_detection,
    multimodal,
    rag,
    time_series,
    diffusion,
    graph,
)
FAMILIES = {model_type: module for module in MODULES for model_type in module.MODEL_TYPES}


def kind(config):
    """The `model_type` of a config of transformers, the `_class_name` of one of diffusers."""
    if isinstance(config, dict):
        return config.get("model_type") or config.get("_class_name")
    return config.model_type


def family_of(model_class):
    """The module of a class that is not of transformers, or None."""
    return next((module for module in MODULES if model_class.__name__ in module.MODEL_TYPES and hasattr(module, "load")), None)


def attention_of(config):
    """How attention is computed: eagerly, but where the family says otherwise."""
    family = FAMILIES[kind(config)]
    return family.attention(config) if hasattr(family, "attention") else "eager"
