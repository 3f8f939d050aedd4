"""Sequences with a cache: part of the engine `torch`."""

import inspect

import torch
from transformers.modeling_outputs import BaseModelOutput

from engine.engine_protocol import Unsupported
from reference.families import FAMILIES

# What a decoder of an encoder-decoder reads; everything else belongs to its encoder.
OF_DECODER = ("decoder_input_ids", "decoder_attention_mask", "decoder_position_ids")


class Session:
    """The cache of one sequence."""

    def __init__(self, model):
        names = inspect.signature(model.forward).parameters
        self.model, self.takes = model, set(names)
        self.cache_name = next((name for name in ("past_key_values", "cache_params") if name in names), None)
        if self.cache_name is None:
            raise Unsupported(f"`{type(model).__name__}` has no cache")
        if hasattr(model, "retriever"):
            raise Unsupported("the engine torch does not generate with passages")
        self.reset()

    def reset(self):
        """Forgets all tokens."""
        self.cache, self.encoded, self.length, self.earlier = None, None, 0, []

    def step(self, inputs):
        """The outputs of the new tokens."""
        inputs = {name: value.to(self.model.dtype) if value.is_floating_point() else value for name, value in inputs.items()}
        try:
            if self.cache_name == "cache_params":
                return joined([self.call(part) for part in self.state_inputs(inputs)])
            if self.crosses_switch(inputs):
                return self.read_again(inputs)
            self.earlier.append(inputs)
            return self.call(inputs)
        except Exception:
            # Some layers may have their new keys already, and others not.
            self.reset()
            raise

    def call(self, inputs):
        """One call of the model."""
        new = new_tokens(inputs)
        arguments = inputs
        if self.encoded is not None:
            arguments = {name: value for name, value in inputs.items() if name in OF_DECODER or name == "attention_mask"}
            arguments["encoder_outputs"] = self.encoded
        if "cache_position" in self.takes:
            arguments["cache_position"] = torch.arange(self.length, self.length + new, device=self.model.device)
        result = self.model(**arguments, **{self.cache_name: self.cache}, use_cache=True, return_dict=True)
        self.cache = result[self.cache_name]
        if "encoder_last_hidden_state" in result and self.encoded is None:
            self.encoded = BaseModelOutput(last_hidden_state=result["encoder_last_hidden_state"])
        self.length += new
        ignored = getattr(FAMILIES.get(self.model.config.model_type), "IGNORED", ())
        named = {name: value for name, value in result.items() if isinstance(value, torch.Tensor) and name not in ignored}
        return {f"output.{name}": value for name, value in named.items() if name != "encoder_last_hidden_state"}

    def state_inputs(self, inputs):
        """The calls of a step of Mamba: its state takes a text at first, and single tokens after that; a mask of new tokens only."""
        new = new_tokens(inputs)
        if "attention_mask" in inputs:
            inputs = inputs | {"attention_mask": inputs["attention_mask"][:, -new:]}
        if self.length == 0:
            return [inputs]
        return [{name: value[:, index : index + 1] for name, value in inputs.items()} for index in range(new)]

    def crosses_switch(self, inputs):
        """Whether Phi-3 switches from its short to its long factors, which changes every key; its `generate` does the same."""
        rope = getattr(self.model.config, "rope_parameters", None) or getattr(self.model.config, "rope_scaling", None) or {}
        if (rope.get("rope_type") or rope.get("type")) != "longrope":
            return False
        switch = getattr(self.model.config, "original_max_position_embeddings", None) or rope["original_max_position_embeddings"]
        return 0 < self.length <= switch < self.length + new_tokens(inputs)

    def read_again(self, inputs):
        """The outputs of the new tokens, after all earlier ones were read again."""
        new, earlier = new_tokens(inputs), self.earlier
        whole = dict(inputs)
        for name in ("input_ids", "position_ids"):
            if name in inputs:
                whole[name] = torch.cat([*(part[name] for part in earlier), inputs[name]], 1)
        self.reset()
        self.earlier.append(whole)
        return {name: value[:, -new:] for name, value in self.call(whole).items()}


def new_tokens(inputs):
    """The number of new tokens."""
    return inputs[next(name for name in ("decoder_input_ids", "input_ids") if name in inputs)].shape[1]


def joined(parts):
    """The outputs of several calls, side by side."""
    return {name: torch.cat([part[name] for part in parts], 1) for name in parts[0]}
