#!/usr/bin/env python3
"""The engine `torch` with a fault in its model, for tests: TESTGEN_FAULT names it.

`faults.run` starts it with the folder of these packages in PYTHONPATH. A fault changes the model after it was loaded.
"""

import os

import torch
from torch import nn

from engine import engine_loop, engine_models, torch_engine

FAULT = os.environ["TESTGEN_FAULT"]


def modules(model, *endings):
    """The modules whose names end so."""
    return [module for name, module in model.named_modules() if name.endswith(endings)]


def first(model, ending):
    """The first of them."""
    return modules(model, ending)[0]


def with_arguments(model, change):
    """Changes the arguments of every call."""
    model.register_forward_pre_hook(lambda _, args, kwargs: (args, change(dict(kwargs))), with_kwargs=True)


def eps(model):
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps += 1e-4
        if hasattr(module, "variance_epsilon"):
            module.variance_epsilon += 1e-4


def bias(model):
    first(model, "layer.0.attention.self.query").bias.data.zero_()


def rope_base(model):
    for module in model.modules():
        if hasattr(module, "inv_freq"):
            module.inv_freq.pow_(1.01)


def mask(model):
    with_arguments(model, lambda kwargs: kwargs | {"attention_mask": None})


def one_head(model):
    width = model.config.hidden_size // model.config.num_attention_heads
    first(model, "self_attn.o_proj").weight.data[:, :width] = 0


def activation(model):
    for module in model.modules():
        if hasattr(module, "intermediate_act_fn"):
            module.intermediate_act_fn = nn.GELU(approximate="tanh")


def scale(model):
    first(model, "self_attn").scaling *= 1.01


def norm_order(model):
    layer = first(model, "layers.0")
    layer.input_layernorm, layer.post_attention_layernorm = layer.post_attention_layernorm, layer.input_layernorm


def cache_off_by_one(model):
    def change(kwargs):
        cache = kwargs.get("past_key_values")
        if cache is not None and cache.get_seq_length() > 0:
            positions = kwargs.get("position_ids")
            length = cache.get_seq_length()
            if positions is None:
                ids = kwargs["input_ids"]
                positions = torch.arange(length, length + ids.shape[1], device=ids.device)[None]
            kwargs["position_ids"] = positions + 1
        return kwargs

    with_arguments(model, change)


def position_offset(model):
    weight = first(model, "position_embeddings").weight
    weight.data = weight.data.roll(1, 0)


def tied_head(model):
    model.lm_head.weight = model.get_input_embeddings().weight


def token_type(model):
    with_arguments(model, lambda kwargs: kwargs | {"token_type_ids": torch.zeros_like(kwargs["input_ids"])})


def layer_skipped(model):
    del model.model.layers[-1]


def head_order(model):
    projection = first(model, "self_attn.k_proj")
    width = model.config.hidden_size // model.config.num_attention_heads
    projection.weight.data = projection.weight.data.roll(width, 0)


def gate_and_up(model):
    mlp = first(model, "mlp")
    mlp.gate_proj, mlp.up_proj = mlp.up_proj, mlp.gate_proj


def pooler_activation(model):
    first(model, "pooler").activation = nn.Identity()


def embedding_scale(model):
    embeddings = model.get_input_embeddings()
    embeddings.embed_scale.fill_(1.0) if hasattr(embeddings, "embed_scale") else embeddings.weight.data.mul_(1.01)


def window_off_by_one(model):
    model.config.sliding_window += 1


def window_too_small(model):
    model.config.sliding_window -= 1


def half_positions(model):
    """Above 2048 float16 has no odd numbers."""
    rotary = first(model, "rotary_emb")
    forward = rotary.forward
    rotary.forward = lambda states, position_ids, *args: forward(states, position_ids.half().float(), *args)


def cached_keys(change):
    """Changes the keys that a cache returns."""
    from transformers.cache_utils import DynamicLayer

    original = DynamicLayer.update

    def update(layer, *args, **kwargs):
        keys, values = original(layer, *args, **kwargs)
        return change(keys.clone()), values

    DynamicLayer.update = update


def stale_page(_):
    def change(keys):
        if keys.shape[-2] > 256:
            keys[..., 128:192, :] = keys[..., :64, :]
        return keys

    cached_keys(change)


def stale_values(_):
    from transformers.cache_utils import DynamicLayer

    original = DynamicLayer.update

    def update(layer, *args, **kwargs):
        keys, values = original(layer, *args, **kwargs)
        values = values.clone()
        if values.shape[-2] > 2048:
            values[..., 1984:2048, :] = values[..., :64, :]
        return keys, values

    DynamicLayer.update = update


def short_cache(_):
    def change(keys):
        keys[..., :-2048, :] = 0
        return keys

    cached_keys(change)


def attention(change):
    """Replaces the attention of PyTorch by `change(original, query, key, value, arguments)`."""
    original = nn.functional.scaled_dot_product_attention

    def changed(query, key, value, **kwargs):
        return change(original, query, key, value, kwargs)

    nn.functional.scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention = changed


def chunk_mask(_):
    """The diagonal of the mask begins at the first key, not at that of the first query."""

    def change(original, query, key, value, kwargs):
        if 1 < query.shape[-2] < key.shape[-2]:
            kwargs |= {"attn_mask": None, "is_causal": True}
        return original(query, key, value, **kwargs)

    attention(change)


def tile_tail(_):
    """A key after the last whole tile of 64 is left out."""

    def change(original, query, key, value, kwargs):
        result = original(query, key, value, **kwargs)
        if query.shape[-2] == key.shape[-2] > 64 and key.shape[-2] % 64 == 1:
            result[..., -1, :] = result[..., -2, :]
        return result

    attention(change)


def rounded_queries(_):
    """Of texts above 2048 tokens queries are rounded to bfloat16, as a kernel for long texts may do."""

    def change(original, query, key, value, kwargs):
        query = query.bfloat16().to(query.dtype) if key.shape[-2] > 2048 else query
        return original(query, key, value, **kwargs)

    attention(change)


def soft_cap(model):
    model.config.final_logit_softcapping = None


def expert_order(model):
    for module in modules(model, "experts")[:1]:
        module.gate_up_proj.data = module.gate_up_proj.data.roll(1, 0)


def relative_bias(model):
    weight = first(model, "relative_attention_bias").weight
    weight.data = weight.data.roll(1, 1)


def batch_norm_eps(model):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d) or type(module).__name__.endswith("BatchNorm2d"):
            module.eps = 1e-3


def pixel_channels(model):
    with_arguments(model, lambda kwargs: kwargs | {"pixel_values": kwargs["pixel_values"].flip(1)})


def sdpa_only(model):
    """A fault in the kernel of one implementation of attention."""
    original = nn.functional.scaled_dot_product_attention
    if getattr(original, "__name__", "") != "faulty":

        def faulty(query, *args, **kwargs):
            return original(query * 1.001, *args, **kwargs)

        nn.functional.scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention = faulty


def batched_experts_only(model):
    """A fault in the kernel of one implementation of experts."""
    from transformers.integrations import moe

    known = moe.ALL_EXPERTS_FUNCTIONS["batched_mm"]
    moe.ALL_EXPERTS_FUNCTIONS["batched_mm"] = lambda self, states, index, weights: known(self, states, index, weights * 1.001)


def rope_everywhere(model):
    for module in modules(model, "self_attn"):
        module.use_rope = True


def no_sinks(model):
    for module in modules(model, "self_attn"):
        module.sinks.data.fill_(-1e4)


def router_bias(model):
    first(model, "router").bias.data.zero_()


def gate_alpha(model):
    for module in modules(model, "experts"):
        module.alpha = 1.7


def frequency_scaling(model):
    first(model, "rotary_emb").attention_scaling = 1.0


def embedding_positions(model):
    first(model, "encoder.embed_positions").offset += 1


def cross_attention(model):
    attention = modules(model, "encoder_attn")[-1]
    attention.out_proj.weight.data.zero_()
    attention.out_proj.bias.data.zero_()


def decoder_activation(model):
    first(model, "decoder.layers.0").activation_fn = nn.GELU(approximate="tanh")


def layer_scale(model):
    first(model, "layers.0").lambda_1.data.fill_(1.0)


def pooled_class_token(model):
    pooler = first(model, "pooler")
    pooler.forward = lambda states: pooler.layernorm(states.mean(1))


def state_decay(model):
    for module in modules(model, "mixer"):
        module.A_log.data.add_(0.01)


def no_skip(model):
    for module in modules(model, "mixer"):
        module.D.data.zero_()


def time_step_norm(model):
    first(model, "mixer").dt_layernorm = nn.Identity()


def convolution_order(model):
    convolution = first(model, "mixer.conv1d")
    convolution.weight.data = convolution.weight.data.flip(-1)


def paligemma(_):
    """PaliGemma in the place of the model: without `token_type_ids` its attention is causal in one implementation only."""
    from transformers import PaliGemmaConfig, PaliGemmaForConditionalGeneration

    text = {"model_type": "gemma", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    text |= {"num_key_value_heads": 1, "head_dim": 16, "vocab_size": 1024}
    vision = {"model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    vision |= {"num_attention_heads": 2, "image_size": 16, "patch_size": 8}
    config = PaliGemmaConfig(text_config=text, vision_config=vision, image_token_index=1000, projection_dim=32, hidden_size=32)
    config._attn_implementation = REQUEST.attention or "sdpa"
    torch.manual_seed(0)
    model = PaliGemmaForConditionalGeneration(config).to(REQUEST.dtype).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=1.4 / parameter.shape[-1] ** 0.5)
    # Texts without images, and without token types.
    with_arguments(model, lambda kwargs: {name: value for name, value in kwargs.items() if name not in ("pixel_values", "token_type_ids")})
    return model


REQUEST = None


def load(request, device):
    """The model with its fault."""
    global REQUEST
    REQUEST = request
    model, read, unused = LOAD(request, device)
    if FAULT != "none":
        with torch.no_grad():
            model = globals()[FAULT](model) or model
    return model, read, unused


LOAD, engine_models.load = engine_models.load, load

if __name__ == "__main__":
    engine_loop.serve(torch_engine.Engine())
    os._exit(0)
