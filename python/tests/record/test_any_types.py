"""Types without a native implementation: inputs by the signature of `forward`, results by their names, and a whole recording."""

# ruff: noqa: E402 - modules that import torch come after the check that it is there
import json
from types import SimpleNamespace

import pytest

from record.noise_samples import noise
from reference.registry import ENTRIES

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import numpy
from safetensors import safe_open
from safetensors.torch import save_file

from fixtures import shrink, shrunk
from record import any_cases, any_extra, any_text, any_vectors, config_effects, goldens, measured_sizes
from record.given_inputs import read_inputs
from reference import forward_arguments, results
from reference.errors import RecordError

SIZES = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 40,
    "max_position_embeddings": 64,
    "pad_token_id": 1,
    "bos_token_id": 2,
    "eos_token_id": [3, 4],
}


class Plain(torch.nn.Module):
    """A model with arguments of each kind."""

    def forward(self, patches, mask=None, *, scale=1):
        return patches


class Open(torch.nn.Module):
    """A model that takes further arguments."""

    def forward(self, input_ids, **options):
        return input_ids


def test_arguments_are_those_of_the_signature():
    assert forward_arguments.names(Plain()) == {"patches", "mask", "scale"}
    assert forward_arguments.required(Plain()) == ["patches"]
    assert not forward_arguments.takes(Plain(), "output_hidden_states")
    assert forward_arguments.takes(Open(), "output_hidden_states")
    assert forward_arguments.required(Open()) == ["input_ids"]


def test_sizes_are_those_of_the_modality_and_are_measured_else():
    config = transformers.CLIPConfig(text_config={"vocab_size": 50}, vision_config={"image_size": 24, "num_channels": 1})
    assert measured_sizes.image_sides(config) == (24, 24)
    assert measured_sizes.channels(torch.nn.Sequential(), config) == 1
    assert measured_sizes.channels(torch.nn.Conv2d(5, 2, 1), transformers.PretrainedConfig()) == 5
    table = torch.nn.ModuleDict({"position_embeddings": torch.nn.Embedding(20, 4, padding_idx=1)})
    assert measured_sizes.position_limit(table, transformers.PretrainedConfig()) == 18, "rows begin after the padding row"


def test_ids_avoid_tokens_with_a_meaning():
    config = transformers.LlamaConfig(**SIZES | {"vocab_size": 12})
    text = any_text.Text(transformers.LlamaModel(config), "", config, 0)
    assert text.end == 3
    assert set(text.drawable) == set(range(12)) - {1, 2, 3, 4}


def test_results_in_lists_have_numbers_and_results_without_names_are_recorded():
    tensor = torch.ones(2)
    result = {"params": (tensor, tensor), "hidden_states": (tensor,), "loss": tensor, "none": None}
    assert list(results.listed(result)) == ["params.0", "params.1"]
    assert list(results.listed(results.by_name((tensor, None, tensor)))) == ["output.0", "output.2"]
    assert list(results.listed(results.by_name(tensor))) == ["output"]


def test_a_compute_type_in_which_the_model_does_not_run_has_no_noise():
    run = [{"logits": torch.ones(2).numpy()}]
    found = noise(run, run, lambda precision: None if precision == "f16" else run, lambda *_: [], 1, False)
    assert set(found) == {"reference", "noise_samples", "f32", "bf16"}


def test_inputs_of_a_file_are_checked(tmp_path):
    path = tmp_path / "inputs.safetensors"
    save_file({"patches": torch.ones(2, dtype=torch.float16), "mask": torch.ones(2, dtype=torch.int8)}, path)
    found = read_inputs(path, Plain())
    assert {name: value.dtype for name, value in found.items()} == {"mask": torch.int64, "patches": torch.float32}
    save_file({"mask": torch.ones(2)}, path)
    with pytest.raises(RecordError, match="`Plain` needs `patches`"):
        read_inputs(path, Plain())
    save_file({"pixels": torch.ones(2)}, path)
    with pytest.raises(RecordError, match="takes no `pixels`; its arguments are mask, patches, scale"):
        read_inputs(path, Plain())


def test_a_model_without_inputs_that_can_be_drawn_is_refused():
    assert any_cases.arguments(Plain()) == "`patches`, `mask`, `scale`"
    assert any_cases.arguments(torch.nn.Identity()) == "`input`"
    error = any_cases.refusal(Plain(), [ValueError("patches are missing\nand more"), RecordError("another")])
    help_text = "give others with --inputs FILE, it takes `patches`, `mask`, `scale`"
    assert str(error) == f"`Plain` refuses the inputs: patches are missing; {help_text}"


def save(directory, name, **sizes):
    """A random checkpoint of a class."""
    model_class = getattr(transformers, name)
    torch.manual_seed(0)
    model_class(model_class.config_class(**SIZES | sizes)).save_pretrained(directory)


@pytest.fixture
def decoder(tmp_path):
    """A small checkpoint of a type without a native implementation."""
    name = next(name for name, line in ENTRIES.items() if not line.definition and "SmolLM3ForCausalLM" in line.classes)
    assert ENTRIES[name].recorder == "decoder_only"
    save(tmp_path, "SmolLM3ForCausalLM")
    return tmp_path


def test_a_decoder_is_recorded_with_its_tokens(decoder):
    path = goldens.record(decoder, seed=3)
    with safe_open(path, "pt") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    assert tensors["output.logits"].shape == (*tensors["input.input_ids"].shape, 40)
    assert {"case.1.output.logits", "case.2.output.logits", "case.2.input.position_ids", "trace.embed", "trace.layer.1"} <= set(tensors)
    assert tensors["tokens.greedy"].shape == (2, 16)
    assert set(json.loads(metadata["noise.bf16"])) >= {"logits", "tokens.logits", "trace.layer.0"}
    assert metadata["model_class"] == "SmolLM3ForCausalLM"
    with open(path, "rb") as file:
        first = file.read()
    with open(goldens.record(decoder, seed=3, force=True), "rb") as file:
        assert file.read() == first, "the same seed produces the same bytes"


def test_inputs_of_a_file_replace_drawn_ones(decoder, tmp_path):
    inputs = tmp_path / "inputs.safetensors"
    save_file({"input_ids": torch.tensor([[5, 6, 7]])}, inputs)
    with safe_open(goldens.record(decoder, inputs=inputs), "pt") as file:
        assert file.get_tensor("input.input_ids").tolist() == [[5, 6, 7]]
        assert not any(name.startswith("case.") for name in file.keys())  # noqa: SIM118
        assert "--inputs FILE" in file.metadata()["command"]


def test_tokens_are_put_in_the_place_of_an_image():
    config = transformers.LlamaConfig(**SIZES)
    text = any_text.Text(transformers.LlamaModel(config), "", config, 0)
    ids, mask = torch.tensor([[5, 6, 7, 8], [5, 6, 7, 1]]), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    found = text.with_places({"input_ids": ids, "attention_mask": mask}, token=9, count=3)
    assert found["input_ids"].tolist() == [[5, 9, 9, 9, 6, 7, 8], [5, 9, 9, 9, 6, 7, 1]]
    assert found["attention_mask"].tolist() == [[1] * 7, [1] * 6 + [0]]


def test_the_number_of_tokens_is_read_from_the_error_of_transformers():
    found = any_cases.REPORTED.search("Audio features and audio tokens do not match, tokens: 0, features: 32")
    assert found and found[1] == "32"


def test_infinite_results_are_left_out_and_zeros_are_not():
    result = {"logits": torch.ones(2), "hidden": torch.tensor([1.0, float("-inf")]), "zero": torch.zeros(2)}
    assert [list(one) for one in results.measurable([result, {"hidden": result["hidden"]}])] == [["logits", "zero"], ["hidden"]]


class Convolution(torch.nn.Module):
    """A model of sounds that are at least one kernel long."""

    def forward(self, input_values, output_hidden_states=False, return_dict=True):
        return {"output": torch.nn.functional.conv1d(input_values[:, None], torch.ones(1, 1, 50))}


def test_a_sound_must_be_long_enough_for_half_of_it(monkeypatch):
    monkeypatch.setattr(any_cases, "run", lambda model, case, trace: model(**case))
    assert any_cases.takes_half(Convolution(), {"input_values": torch.zeros(2, 98)})
    assert not any_cases.takes_half(Convolution(), {"input_values": torch.zeros(2, 96)})
    assert any_cases.takes_half(Convolution(), {"input_values": torch.zeros(2, 1, 60)}), "a layout that is not cut"


def test_a_dual_encoder_has_the_hidden_states_of_both():
    model = SimpleNamespace(config=SimpleNamespace(model_type="siglip2"))
    text, image = SimpleNamespace(hidden_states=("t0", "t1")), SimpleNamespace(hidden_states=("i0",))
    result = SimpleNamespace(text_model_output=text, vision_model_output=image)
    assert results.dual_states(model, result) == {"trace.embed": "t0", "trace.layer.0": "t1", "trace.layer.1": "i0"}
    image.hidden_states = None
    assert results.dual_states(model, result) == {}


def test_an_effect_must_be_one_in_every_implementation_of_attention(monkeypatch, tmp_path):
    (tmp_path / "config.json").write_text('{"both": 2, "eager_only": 2}')

    def changed_model(_class, _directory, config, attn_implementation="eager"):
        hidden = config["eager_only"] if attn_implementation == "eager" else 2
        return torch.tensor([float(config["both"] + hidden)])

    monkeypatch.setattr(config_effects, "changed_model", changed_model)
    monkeypatch.setattr(config_effects, "run", lambda model, _case, trace: {"logits": model})
    assert config_effects.effects(SimpleNamespace(_supports_sdpa=True), tmp_path, {}) == {"both": 3}
    assert config_effects.effects(SimpleNamespace(), tmp_path, {}) == {"both": 3, "eager_only": 3}


def test_an_index_out_of_range_shows_no_effect(monkeypatch, tmp_path):
    (tmp_path / "config.json").write_text('{"positions": 4, "scale": 0.0}')

    def run(config, _case, trace):
        if config["positions"] < 4:
            raise IndexError("index out of range in self")
        return {"logits": torch.tensor([1.0 + round(config["scale"])])}

    monkeypatch.setattr(config_effects, "changed_model", lambda _class, _directory, config, **_options: config)
    monkeypatch.setattr(config_effects, "run", run)
    assert config_effects.effects(SimpleNamespace(), tmp_path, {}) == {"scale": 1.0}


def test_parameters_of_a_method_are_without_the_model():
    model = Plain()
    expected = forward_arguments.names(model)
    model.forward = Plain().forward
    assert forward_arguments.names(model) == expected, "of another model"
    model.forward = lambda pixels: pixels
    assert forward_arguments.names(model) == {"pixels"}, "no method"


class Columns(torch.nn.Module):
    """A decoder of vectors in columns, as a convolution takes them."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv1d(6, 4, 3)
        self.stack = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(5, 5)])

    def forward(self, latents, padding_mask=None):
        return {"output": self.convolution(latents)}


def drawn(model, config, name):
    """The shapes of `name` in the layouts that are tried."""
    return [tuple(draw(numpy.random.default_rng(0), 2)[name].shape) for draw in any_vectors.Vectors(model, config).layouts()]


def test_vectors_that_a_class_requires_are_drawn_in_rows_and_columns():
    shapes = drawn(Columns(), SimpleNamespace(hidden_size=8), "latents")
    assert (2, 6, 9) in shapes and (2, 9, 4) in shapes and (2, 9, 8) in shapes
    assert not any(5 in shape for shape in shapes), "inner layers of a stack read no input"
    assert not list(any_vectors.Vectors(Open(), SimpleNamespace(hidden_size=8)).layouts()), "a class that reads ids"


def test_several_vectors_may_have_different_widths():
    class Pair(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stack = torch.nn.ModuleList([torch.nn.Linear(6, 6)])
            self.inner = torch.nn.ModuleDict({"encoder": torch.nn.Linear(12, 6)})

        def forward(self, noise_embeds, context_hidden_states):
            return noise_embeds

    layouts = [draw(numpy.random.default_rng(0), 2) for draw in any_vectors.Vectors(Pair(), SimpleNamespace(hidden_size=6)).layouts()]
    shapes = [tuple(tuple(value.shape) for value in case.values()) for case in layouts]
    assert ((2, 9, 6), (2, 10, 12)) in shapes


def recorded(directory, name):
    """The tensors of the golden of the smallest configuration of a type."""
    shrunk.attempt(name, ENTRIES[name].classes[0], shrink.TINY, str(directory), committed=False)
    with safe_open(directory / "golden.safetensors", "pt") as file:
        return {tensor: file.get_tensor(tensor) for tensor in file.keys()}  # noqa: SIM118


def test_states_and_actions_are_recorded(tmp_path):
    tensors = recorded(tmp_path, "decision_transformer")
    assert tensors["input.states"].shape == (2, 7, 17) and tensors["input.actions"].shape == (2, 7, 4)
    times = tensors["input.timesteps"]
    assert (times[:, 1:] - times[:, :-1] == 1).all(), "successive times"
    assert tensors["output.action_preds"].shape == (2, 7, 4)


def test_the_noise_of_a_robot_is_an_argument():
    config = SimpleNamespace(max_state_dim=3, max_action_dim=5, chunk_size=4)
    found = any_extra.movement(config, numpy.random.default_rng(0), 2)
    assert {name: tuple(value.shape) for name, value in found.items()} == {"state": (2, 3), "noise": (2, 4, 5), "timestep": (2,)}
    assert ((found["timestep"] > 0) & (found["timestep"] < 1)).all()


def test_a_detector_reads_the_names_of_its_classes(tmp_path):
    tensors = recorded(tmp_path, "omdet-turbo")
    assert tensors["input.classes_structure"].tolist() == [2, 2]
    assert len(tensors["input.classes_input_ids"]) == 4 and len(tensors["input.tasks_input_ids"]) == 2


def test_an_image_has_places_in_the_text(tmp_path):
    tensors = recorded(tmp_path, "kosmos-2")
    assert tensors["input.image_embeds_position_mask"].sum(-1).tolist() == [4, 4]
