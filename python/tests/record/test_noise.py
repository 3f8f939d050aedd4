"""The noise of a model that runs; skipped where torch and transformers are absent."""

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from record import noise  # noqa: E402 - it imports torch
from reference import rounded_inputs  # noqa: E402


class Tiny(torch.nn.Module):
    """A linear layer and a softmax, with the casts to float32 that model code has."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64, bias=False)
        torch.nn.init.normal_(self.linear.weight, generator=torch.Generator().manual_seed(0))

    def forward(self, inputs):
        hidden = self.linear(inputs.to(self.linear.weight.dtype))
        return torch.nn.functional.softmax(hidden, dim=-1, dtype=torch.float32)


class Runs:
    """One call of [`Tiny`]."""

    def of(self, model):
        with torch.no_grad():
            return [{"logits": model(torch.linspace(-1, 1, 64))}]

    def of_steps(self, _model):
        return []

    def stored(self, results):
        return results


@pytest.fixture
def measured(monkeypatch):
    """`measured` of `Tiny` instead of a checkpoint."""
    monkeypatch.setattr(noise, "load", lambda _class, _directory, dtype: Tiny().to(dtype))

    def measure(noise_samples=1, choosing=False):
        return noise.measured(Tiny, "", Runs(), Runs().of(Tiny()), noise_samples, choosing)

    return measure


def test_a_type_with_fewer_bits_has_more_noise(measured):
    found = measured()
    assert found["reference"] == "float64"
    errors = [found[precision]["logits"][0] for precision in ("f32", "f16", "bf16")]
    assert 1e-9 < errors[0] < 1e-5 < errors[1] < errors[2] < 1
    assert 2 < errors[2] / errors[1] < 40, "bf16 has three bits less than f16"


def test_samples_have_other_weights_and_the_same_seed_the_same(measured):
    one, four = measured(), measured(noise_samples=4)
    assert four == measured(noise_samples=4)
    for precision in ("f32", "f16", "bf16"):
        assert all(more >= less for more, less in zip(four[precision]["logits"], one[precision]["logits"], strict=True))
    assert any(four[precision] != one[precision] for precision in ("f32", "f16", "bf16"))


def test_a_model_that_only_runs_in_float32(monkeypatch):
    class Fails(Runs):
        def of(self, model):
            if model.linear.weight.dtype == torch.float64:
                raise RuntimeError("expected float32")
            return super().of(model)

    monkeypatch.setattr(noise, "load", lambda _class, _directory, dtype: Tiny().to(dtype))
    one, four = (noise.measured(Tiny, "", Fails(), Runs().of(Tiny()), count, False) for count in (1, 4))
    assert (four["reference"], four["noise_samples"]) == ("float32", 4) and "f32" not in four
    assert four["f16"]["logits"][0] > one["f16"]["logits"][0], "further samples are compared with float32"


def test_a_float64_run_that_overflows_is_not_the_reference(monkeypatch):
    class Overflows(Runs):
        def of(self, model):
            overflow = torch.inf if model.linear.weight.dtype == torch.float64 else 0.0
            return [{"logits": result["logits"] - overflow} for result in super().of(model)]

    monkeypatch.setattr(noise, "load", lambda _class, _directory, dtype: Tiny().to(dtype))
    found = noise.measured(Tiny, "", Overflows(), Runs().of(Tiny()), 1, False)
    assert found["reference"] == "float32" and found["f16"]["logits"][0] > 0


def test_large_results_are_measured_as_the_golden_stores_them():
    result = {"logits": torch.ones(2, 9, 9000), "router.0": torch.ones(2, 9, 9000), "pooled": torch.ones(2, 9)}
    shapes = {}
    for summarised in (False, True):
        [stored] = noise.Runs([{}], None, summarised).stored([result])
        shapes[summarised] = {name: tuple(value.shape) for name, value in stored.items()}
    assert shapes[False] == {name: tuple(value.shape) for name, value in result.items()}
    assert shapes[True] == shapes[False] | {"logits": (2, 9, 56)}


def test_each_step_of_a_long_generation_is_measured(monkeypatch):
    monkeypatch.setattr(noise, "run", lambda *_, **__: {"logits": torch.ones(3, 103, 5000)})
    found = noise.Runs([], ({}, 3), True).of_steps(None)
    assert [tuple(step["tokens.logits"].shape) for step in found] == [(3, 8)] * 100


def test_moved_weights_stay_in_the_type_of_the_file():
    random = torch.Generator().manual_seed(0)
    for of_file in (torch.bfloat16, torch.float16, torch.float32):
        stored = torch.randn(999, generator=random).to(of_file).double()
        assert noise.storage(stored) == of_file
        for dtype in noise.DTYPES.values():
            weight, copy = stored.clone(), stored.to(dtype)
            noise.move(weight, copy, of_file, random)
            unit = max(torch.finfo(dtype).eps, torch.finfo(of_file).eps)
            assert torch.equal(weight.to(of_file).double(), weight) and torch.equal(copy, weight.to(dtype))
            assert (weight != stored).float().mean() > 0.3, "about half of the weights move"
            assert unit / 4 < ((weight - stored) / stored).square().mean().sqrt() < unit


def test_a_runtime_error_in_float64_makes_float32_the_reference(monkeypatch):
    class Fails(Runs):
        def of(self, model):
            raise RuntimeError("expected float32")

    monkeypatch.setattr(noise, "load", lambda _class, _directory, dtype: Tiny().to(dtype))
    assert noise.float64_results(Tiny, "", Fails()) is None


def test_casts_to_float32_become_casts_to_float64():
    value = torch.full((3,), 0.1, dtype=torch.float64)
    casts = [
        lambda: value.float(),
        lambda: value.to(torch.float32),
        lambda: value.to(dtype=torch.float32),
        lambda: torch.softmax(value, -1, dtype=torch.float32),
        lambda: value.softmax(-1, dtype=torch.float32),
        lambda: torch.nn.functional.softmax(value, dim=-1, dtype=torch.float32),
    ]
    assert {cast().dtype for cast in casts} == {torch.float32}
    with noise.Float64Throughout():
        assert {cast().dtype for cast in casts} == {torch.float64}
        assert value.to(torch.float16).dtype == torch.float16, "only float32 is replaced"


def test_the_metadata_has_an_entry_for_each_compute_type(measured, monkeypatch):
    monkeypatch.setattr(noise, "chooses", lambda *_: False)
    monkeypatch.setattr(noise, "Runs", lambda *_: Runs())
    results = Runs().of(Tiny())
    found = noise.noise_of(Tiny(), "", [], results, noise_samples=2)
    assert set(found) == {"noise.f32", "noise.f16", "noise.bf16", "noise.reference", "noise.samples"}
    assert set(json.loads(found["noise.f16"])) == {"logits"}
    assert "noise.samples" not in noise.noise_of(Tiny(), "", [], results, noise_samples=1)
    assert noise.noise_of(Tiny(), "", [], results)["noise.samples"] == "8"


def test_inputs_are_rounded_to_the_type_of_the_checkpoint():
    values = torch.linspace(0.1, 0.9, 9).double().numpy()
    config = type("Config", (), {"dtype": torch.bfloat16})()
    rounded = rounded_inputs.rounded(config, values)
    assert rounded.dtype == torch.float32
    assert torch.equal(rounded, rounded.bfloat16().float()) and not torch.equal(rounded, torch.from_numpy(values).float())
    for config in ({}, type("Config", (), {"dtype": None})()):
        assert torch.equal(rounded_inputs.rounded(config, values), torch.from_numpy(values).float())
