"""Classes of diffusers without a native implementation: inputs from a file, results by their names, and the type of their weights."""

# ruff: noqa: E402 - modules that import torch come after the check that it is there
import dataclasses
import json
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
diffusers = pytest.importorskip("diffusers")

from safetensors import safe_open
from safetensors.torch import save_file

from engine import engine_models
from engine.engine_protocol import Unsupported
from record import goldens
from reference.errors import RecordError
from reference.families import diffusion

SIZES = {
    "sample_size": 8,
    "patch_size": 2,
    "in_channels": 4,
    "out_channels": 4,
    "num_layers": 1,
    "attention_head_dim": 8,
    "num_attention_heads": 2,
    "caption_projection_dim": 16,
    "joint_attention_dim": 12,
    "pooled_projection_dim": 10,
    "pos_embed_max_size": 8,
}


def inputs(rows=2):
    """The arguments of the transformer, with a condition for each of two samples."""
    random = torch.Generator().manual_seed(0)
    shapes = {"hidden_states": (2, 4, 8, 8), "encoder_hidden_states": (rows, 5, 12), "pooled_projections": (2, 10)}
    return {name: torch.randn(shape, generator=random) for name, shape in shapes.items()} | {"timestep": torch.tensor([3, 700])}


@pytest.fixture
def checkpoint(tmp_path):
    """A small transformer with weights that differ."""
    model = diffusers.SD3Transformer2DModel(**SIZES)
    random = torch.Generator().manual_seed(1)
    for weight in model.parameters():
        weight.data = torch.randn(weight.shape, generator=random) * (weight[0].numel() ** -0.5 if weight.ndim > 1 else 0.3)
    model.save_pretrained(tmp_path / "sd3")
    return tmp_path / "sd3"


def test_a_class_is_recorded_with_inputs_from_a_file(checkpoint, tmp_path):
    save_file(inputs(), tmp_path / "inputs.safetensors")
    path = goldens.record(str(checkpoint), noise_samples=2, inputs=str(tmp_path / "inputs.safetensors"))
    with safe_open(path, "pt") as golden:
        assert golden.metadata()["model_class"] == "SD3Transformer2DModel"
        assert golden.metadata()["diffusers"] == diffusers.__version__
        assert sorted(golden.keys()) == [*(f"input.{name}" for name in sorted(inputs())), "output.sample"]
        noise = {name: json.loads(golden.metadata()[f"noise.{name}"])["sample"][0] for name in ("f32", "f16", "bf16")}
    assert noise["f32"] < 1e-5 < 1e-4 < noise["f16"] < noise["bf16"], "each type was computed in"


def test_weights_have_the_type_that_was_asked_for(checkpoint):
    config = json.loads((checkpoint / "config.json").read_text())
    model = diffusion.load(str(checkpoint), config, torch.float16)
    assert {weight.dtype for weight in model.parameters()} == {torch.float16}
    kept = SimpleNamespace(_keep_in_fp32_modules=["norm"], named_parameters=lambda: weights.items())
    weights = {"norm.weight": torch.ones(2), "layers.0.weight": torch.ones(2)}
    diffusion.rounded(kept, torch.bfloat16)
    assert [weight.dtype for weight in weights.values()] == [torch.float32, torch.bfloat16]


def test_the_engine_loads_a_class_with_its_own_attention_only(checkpoint):
    name, device = "SD3Transformer2DModel", torch.device("cpu")
    request = engine_models.Request(str(checkpoint), None, name, name, torch.float16, None, None)
    model, read, unused = engine_models.load(request, device)
    assert {weight.dtype for weight in model.parameters()} == {torch.float16}
    assert read
    assert not unused
    with pytest.raises(Unsupported, match="has one attention for `SD3Transformer2DModel`"):
        engine_models.load(dataclasses.replace(request, attention="eager"), device)
    with pytest.raises(Unsupported, match="has no class `NoSuchModel`"):
        engine_models.load(dataclasses.replace(request, class_name="NoSuchModel"), device)


def test_inputs_are_not_drawn_and_need_a_row_for_each_sample(checkpoint, tmp_path):
    with pytest.raises(RecordError, match=r"no inputs of `SD3Transformer2DModel` are drawn; .*, which needs `hidden_states`"):
        goldens.record(str(checkpoint))
    save_file(inputs(rows=1), tmp_path / "inputs.safetensors")
    with pytest.raises(RecordError, match="`encoder_hidden_states` has 1 rows and `hidden_states` 2"):
        goldens.record(str(checkpoint), inputs=str(tmp_path / "inputs.safetensors"))


def test_results_in_lists_have_numbers():
    value = torch.ones(2)
    found = diffusion.by_name({"down": (value, value), "mid": value, "ids": torch.ones(2, dtype=torch.int64), "none": None})
    assert list(found) == ["down.0", "down.1", "mid"]
    assert list(diffusion.by_name((value,))) == ["output.0"]
    with pytest.raises(RecordError, match="no tensor"):
        diffusion.by_name({"ids": None})


def test_a_class_that_diffusers_lacks_is_named():
    with pytest.raises(RecordError, match="has no class `NoSuchModel`"):
        diffusion.class_of({"_class_name": "NoSuchModel"})
