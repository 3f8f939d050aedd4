"""Collectives of processes on the host processor, and layers on several devices."""

import pytest

torch = pytest.importorskip("torch")

from engine import torch_collectives, torch_split  # noqa: E402
from engine.engine_operators import Call  # noqa: E402
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


def compute(collectives, operator, tensors, attributes, device="cpu", repeated=None):
    return collectives.compute(Call(operator, [], attributes, {}, repeated), tensors, device)


def test_every_rank_has_the_sum(collectives):
    for in_place in (False, True):
        sums = compute(collectives, "all_reduce", [of_ranks([1, 2], [10, 20])], {"in_place": in_place})
        assert sums.tolist() == [[11, 22], [11, 22]]


def test_parts_go_to_their_ranks(collectives):
    x = of_ranks([1, 2], [3, 4])
    assert compute(collectives, "all_to_all", [x], OUT_OF_PLACE).tolist() == [[1, 3], [2, 4]]
    assert compute(collectives, "reduce_scatter", [x], OUT_OF_PLACE).tolist() == [[4], [6]]
    assert compute(collectives, "all_gather", [x], OUT_OF_PLACE).tolist() == [[1, 2, 3, 4]] * 2
    assert compute(collectives, "broadcast_from_rank", [x], {"root": 1}).tolist() == [[3, 4]] * 2


def test_results_of_repeated_inputs_remain_on_the_devices_of_the_ranks(collectives):
    x = of_ranks([1, 2], [10, 20])
    repeated = {"shapes": [[2, 5]], "fill": [2, 5]}
    sums = compute(collectives, "all_reduce", [x], OUT_OF_PLACE, repeated=repeated)
    assert sums.shape() == [2, 5] and sums.dtype == torch.float32
    assert sums.part(3, 4).tolist() == [22, 11, 11, 22]
    sums.drop()
    with pytest.raises(RuntimeError, match="rank 0: CallError: result 1 is not on the device"):
        sums.part(0, 1)


def test_an_error_names_the_rank_and_the_next_call_starts_others(collectives):
    with pytest.raises(RuntimeError, match=r"rank 0: .*rank 1: "):
        compute(collectives, "row_parallel_product", [of_ranks([1, 2], [3, 4]), torch.ones(2, 3, 1)], OUT_OF_PLACE)
    assert collectives.ranks == {}
    assert compute(collectives, "all_reduce", [of_ranks([1], [2])], OUT_OF_PLACE).tolist() == [[3], [3]]


def test_ranks_that_have_ended_are_replaced(collectives):
    compute(collectives, "all_reduce", [of_ranks([1], [2])], OUT_OF_PLACE)
    for process in collectives.ranks[2].processes:
        process.kill()
        process.join()
    with pytest.raises((RuntimeError, OSError)):
        compute(collectives, "all_reduce", [of_ranks([1], [2])], OUT_OF_PLACE)
    assert compute(collectives, "all_reduce", [of_ranks([1], [2])], OUT_OF_PLACE).tolist() == [[3], [3]]


def test_ranks_that_do_not_start_are_an_error_and_end(monkeypatch):
    started = []
    process = torch_collectives.mp.get_context("spawn").Process
    monkeypatch.setattr(process, "start", lambda self, start=process.start: (started.append(self), start(self)))
    monkeypatch.setattr(torch_collectives, "START", 0.001)
    with pytest.raises(RuntimeError, match=r"rank 0: no answer within 0.001 s; rank 1: no answer"):
        torch_collectives.Ranks(2, "cpu")
    assert len(started) == 2 and not any(each.is_alive() for each in started)


def test_ranks_start_within_their_own_time(monkeypatch):
    """The first call has the time of a call, whatever the start has taken."""
    waited = []
    answers = torch_collectives.Ranks.answers
    monkeypatch.setattr(torch_collectives.Ranks, "answers", lambda self, *call: (waited.append(call[1:]), answers(self, *call))[1])
    ranks = torch_collectives.Collectives()
    assert compute(ranks, "all_reduce", [of_ranks([1], [2])], OUT_OF_PLACE).tolist() == [[3], [3]]
    ranks.close()
    assert waited == [(torch_collectives.READY, torch_collectives.START), (1, torch_collectives.PATIENCE)]


def test_a_late_answer_is_not_that_of_the_next_call(monkeypatch):
    ranks = torch_collectives.Ranks.__new__(torch_collectives.Ranks)
    ours, theirs = torch_collectives.mp.Pipe()
    ranks.pipes, ranks.numbers = [ours], iter((1, 2, 3))
    monkeypatch.setattr(torch_collectives, "PATIENCE", 0.01)
    with pytest.raises(RuntimeError, match=r"rank 0: no answer within 0.01 s"):
        ranks.call(0, "read", 1, 0, 1)
    theirs.send((1, "the error of the first call"))
    theirs.send((2, 7))
    assert ranks.call(0, "read", 1, 1, 1) == 7
    theirs.close()
    with pytest.raises((RuntimeError, OSError), match=r"process has ended|Broken pipe"):
        ranks.call(0, "read", 1, 0, 1)


def test_ranks_need_as_many_gpus(collectives, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(Unsupported, match="3 ranks need as many GPUs, and 1 are visible"):
        compute(collectives, "all_reduce", [torch.ones(3, 1)], OUT_OF_PLACE, "cuda")


def test_layers_are_on_all_devices_in_turn():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))
            self.body = torch.nn.Module()
            self.body.first = torch.nn.Linear(1, 1)
            self.body.layers = torch.nn.ModuleList(torch.nn.Sequential(torch.nn.Linear(1, 1)) for _ in range(3))
            # Projections of channels, whose results are stacked.
            self.body.projections = torch.nn.ModuleList(torch.nn.Linear(1, 1) for _ in range(3))
            self.head = torch.nn.Linear(1, 1)

    places = torch_split.device_map(Model(), [2, 0])
    layers = {"body.layers.0": 2, "body.layers.1": 2, "body.layers.2": 0}
    assert places == {"scale": 2, "body.first": 2, **layers, "body.projections": 2, "head": 2}


def test_tensors_of_layers_on_different_gpus_are_not_supported():
    def fails(message):
        raise RuntimeError(message)

    with pytest.raises(Unsupported, match="layers that are on different GPUs"):
        torch_split.computed(lambda: fails("Expected all tensors to be on the same device, but got tensors is on cuda:1"))
    with pytest.raises(RuntimeError, match="out of range"):
        torch_split.computed(lambda: fails("index out of range"))


def test_a_split_needs_two_gpus():
    with pytest.raises(Unsupported, match="several GPUs"):
        torch_split.split(torch.nn.Linear(1, 1), torch.device("cpu"))
