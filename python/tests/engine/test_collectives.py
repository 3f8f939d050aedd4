"""Collectives of processes on the host processor, and layers on several devices."""

import pytest

torch = pytest.importorskip("torch")

from engine import torch_collectives, torch_split  # noqa: E402
from engine.engine_protocol import Unsupported  # noqa: E402

OUT_OF_PLACE = {"in_place": False, "root": 0}


@pytest.fixture(scope="module")
def collectives():
    """Ranks that all tests share, because each start takes seconds."""
    ranks = torch_collectives.Collectives()
    yield ranks
    ranks.close()


def of_ranks(*rows):
    return torch.tensor(rows, dtype=torch.float32)


def test_every_rank_has_the_sum(collectives):
    for in_place in (False, True):
        sums = collectives.compute("all_reduce", [of_ranks([1, 2], [10, 20])], {"in_place": in_place}, "cpu")
        assert sums.tolist() == [[11, 22], [11, 22]]


def test_parts_go_to_their_ranks(collectives):
    x = of_ranks([1, 2], [3, 4])
    assert collectives.compute("all_to_all", [x], OUT_OF_PLACE, "cpu").tolist() == [[1, 3], [2, 4]]
    assert collectives.compute("reduce_scatter", [x], OUT_OF_PLACE, "cpu").tolist() == [[4], [6]]
    assert collectives.compute("all_gather", [x], OUT_OF_PLACE, "cpu").tolist() == [[1, 2, 3, 4]] * 2
    assert collectives.compute("broadcast_from_rank", [x], {"root": 1}, "cpu").tolist() == [[3, 4]] * 2


def test_an_error_names_the_rank_and_the_next_call_starts_others(collectives):
    with pytest.raises(RuntimeError, match=r"rank 0: .*rank 1: "):
        collectives.compute("row_parallel_product", [of_ranks([1, 2], [3, 4]), torch.ones(2, 3, 1)], OUT_OF_PLACE, "cpu")
    assert collectives.ranks == {}
    assert collectives.compute("all_reduce", [of_ranks([1], [2])], OUT_OF_PLACE, "cpu").tolist() == [[3], [3]]


def test_ranks_need_as_many_gpus(collectives, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(Unsupported, match="3 ranks need as many GPUs, and 1 are visible"):
        collectives.compute("all_reduce", [torch.ones(3, 1)], OUT_OF_PLACE, "cuda")


def test_layers_are_on_all_devices_in_turn():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))
            self.body = torch.nn.Module()
            self.body.first = torch.nn.Linear(1, 1)
            self.body.layers = torch.nn.ModuleList(torch.nn.Linear(1, 1) for _ in range(3))
            self.head = torch.nn.Linear(1, 1)

    places = torch_split.device_map(Model(), [2, 0])
    assert places == {"scale": 2, "body.first": 2, "body.layers.0": 2, "body.layers.1": 2, "body.layers.2": 0, "head": 2}


def test_a_split_needs_two_gpus():
    with pytest.raises(Unsupported, match="several GPUs"):
        torch_split.split(torch.nn.Linear(1, 1), torch.device("cpu"))
