"""The list of tensors of a synthetic checkpoint is what `save_pretrained` writes."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors")

from record import recipe  # noqa: E402 (after the packages that it needs)
from reference.errors import RecordError  # noqa: E402
from synthetic_weights import expanded  # noqa: E402

SMALL = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 2, "vocab_size": 32}
MIXTURE = SMALL | {"num_key_value_heads": 1, "num_local_experts": 2, "num_experts_per_tok": 1}


def listed(directory, model_class, config, scheme=None):
    """The tensors of the recipe of a configuration: shape and type by name."""
    config = model_class.config_class(**config, architectures=[model_class.__name__], dtype="bfloat16")
    config.save_pretrained(directory)
    recipe.write(str(directory), 7, scheme)
    found = json.loads((directory / recipe.FILE).read_text())
    assert (found["seed"], found.get("quantise")) == (7, scheme)
    return found["tensors"]


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("LlamaForCausalLM", SMALL | {"num_key_value_heads": 1, "tie_word_embeddings": True}),
        ("BertForMaskedLM", SMALL),
        ("MixtralForCausalLM", MIXTURE),
    ],
)
def test_it_is_what_is_saved(tmp_path, name, config):
    model_class = getattr(transformers, name)
    found = {line["name"]: line["shape"] for line in expanded(listed(tmp_path, model_class, config))}
    model_class(model_class.config_class(**config)).save_pretrained(tmp_path)
    with safetensors.safe_open(tmp_path / "model.safetensors", "pt") as file:
        saved = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 (not a dict)
    assert found == saved


def test_equal_layers_are_one_line(tmp_path):
    lines = listed(tmp_path, transformers.LlamaForCausalLM, SMALL | {"num_key_value_heads": 1})
    assert [line["count"] for line in lines if "layers" in line["name"]] == [3] * 9


def test_a_layer_that_differs_is_a_line():
    line = {"dtype": "F32", "shape": [2], "mean": 0.0, "std": 1.0}
    other = line | {"std": 2.0}
    found = recipe.grouped({"a.0.w": line, "a.1.w": other, "a.2.w": line, "b.1.w": line, "c.w": line})
    assert [(one["name"], one.get("count")) for one in found] == [
        ("a.0.w", None),
        ("a.2.w", None),
        ("a.1.w", None),
        ("b.1.w", None),
        ("c.w", None),
    ]


def test_values_are_smaller_where_the_model_scales_their_result_or_lacks_the_usual_scale(tmp_path):
    def std(directory, name, config, ending):
        directory.mkdir()
        lines = listed(directory, getattr(transformers, name), config)
        return {line["std"] for line in lines if line["name"].endswith(ending)}

    t5 = {"d_model": 64, "d_kv": 16, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 32}
    assert std(tmp_path / "k", "T5EncoderModel", t5, "SelfAttention.k.weight") == {1.4 / 8}
    assert std(tmp_path / "q", "T5EncoderModel", t5, "SelfAttention.q.weight") == {1.4 / 8 / 4}
    bart = {"d_model": 64, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "vocab_size": 32}
    assert std(tmp_path / "plain", "PegasusModel", bart, "shared.weight") == {0.7}
    assert std(tmp_path / "scaled", "PegasusModel", bart | {"scale_embedding": True}, "shared.weight") == {0.7 / 8}
    assert std(tmp_path / "gemma", "GemmaModel", SMALL | {"head_dim": 8}, "embed_tokens.weight") == {0.7 / 4}


def test_a_class_of_diffusers_has_a_list_too(tmp_path):
    diffusers = pytest.importorskip("diffusers")
    config = {"_class_name": "AutoencoderKL", "block_out_channels": [8], "norm_num_groups": 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    recipe.write(str(tmp_path), 7)
    found = {line["name"]: line["shape"] for line in expanded(json.loads((tmp_path / recipe.FILE).read_text())["tensors"])}
    saved = diffusers.AutoencoderKL.from_config(config).state_dict()
    assert found == {name: list(tensor.shape) for name, tensor in saved.items()}


def test_the_branches_of_a_deep_resnet_are_smaller(tmp_path):
    config = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [7, 9], "layer_type": "bottleneck"}
    lines = expanded(listed(tmp_path, transformers.ResNetModel, config))
    norms = {line["name"]: (line["mean"], line["std"]) for line in lines if line["name"].endswith("normalization.weight")}
    last = {values for name, values in norms.items() if ".layer.2." in name}
    others = {values for name, values in norms.items() if ".layer.2." not in name}
    assert len(norms) == 1 + 16 * 3 + 1
    assert (last, others) == ({(0.25, 0.0625)}, {(1, 0.25)})


def test_a_scan_has_slow_decays_and_short_steps(tmp_path):
    config = {"hidden_size": 32, "num_hidden_layers": 1, "state_size": 16, "time_step_rank": 4, "vocab_size": 32}
    found = {line["name"].rpartition("mixer.")[2]: line for line in listed(tmp_path, transformers.MambaForCausalLM, config)}
    values = {name: (line["mean"], line["std"]) for name, line in found.items()}
    assert values["A_log"] == (1.91699, 0.7641)
    assert values["dt_proj.bias"] == (-4.60517, 1.3294)
    # Uniform between the roots of 1 / 4, with four inputs each.
    assert values["dt_proj.weight"] == values["conv1d.weight"] == (0, 0.288675)
    assert values["D"] == (1, 0.25)


def test_states_and_heads_of_a_scan_have_their_own_decays(tmp_path):
    config = {"hidden_size": 32, "num_hidden_layers": 1, "num_heads": 8, "head_dim": 8, "n_groups": 1, "vocab_size": 32}
    found = {line["name"].rpartition("mixer.")[2]: line for line in listed(tmp_path, transformers.Mamba2ForCausalLM, config)}
    assert (found["A_log"]["mean"], found["dt_bias"]["mean"]) == (1.32558, -4.60517)


@pytest.mark.parametrize(
    ("name", "config", "scheme", "expected"),
    [
        (
            "LlamaForCausalLM",
            SMALL | {"num_key_value_heads": 1, "tie_word_embeddings": False},
            "gptq-4-128",
            {f"self_attn.{part}_proj" for part in "qkvo"} | {f"mlp.{part}_proj" for part in ("gate", "up", "down")},
        ),
        ("BertForSequenceClassification", SMALL, "bnb-int8", {"query", "key", "value", "attention.output.dense", "intermediate.dense"}),
        ("MixtralForCausalLM", MIXTURE, "fp8-tensor", {f"experts.{number}.w{part}" for number in (0, 1) for part in (1, 2, 3)}),
        ("GptOssForCausalLM", MIXTURE | {"head_dim": 8}, "mxfp4", {"experts.gate_up_proj", "experts.down_proj"}),
    ],
)
def test_a_scheme_quantizes_linear_layers_of_blocks(tmp_path, name, config, scheme, expected):
    lines = listed(tmp_path, getattr(transformers, name), config, scheme)
    marked = {line["name"] for line in lines if line.get("quantise")}
    for part in expected:
        assert any(found.removesuffix(".weight").endswith(part) for found in marked), (part, marked)
    dense = ("embed", "norm", "lm_head", "classifier", "pooler", "gate.weight", "router", "bias")
    assert [found for found in marked if any(part in found.lower() for part in dense)] == []
    # Every layer of the same name is one line.
    assert all(line["count"] == 3 for line in lines if line.get("quantise"))


@pytest.mark.parametrize(
    ("name", "config", "scheme", "expected"),
    [
        ("LlamaForCausalLM", SMALL, "mxfp4", "it has no experts of GPT-OSS"),
        (
            "GPT2LMHeadModel",
            {"n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 32},
            "gptq-4-128",
            "it has no linear layers in its blocks",
        ),
    ],
)
def test_a_model_without_such_layers_is_an_error(tmp_path, name, config, scheme, expected):
    with pytest.raises(RecordError, match=f"`{scheme}` cannot quantize `{name}`: {expected}"):
        listed(tmp_path, getattr(transformers, name), config, scheme)
