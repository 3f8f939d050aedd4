"""The device that the engine `torch` reports, on builds of torch that are not installed here."""

from types import SimpleNamespace

import pytest

from fresh_modules import restored
from stub_torch import MODULES, UUID, gpu, install

ROCM = {"kind": "rocm", "index": 0, "uuid": f"GPU-{UUID.upper()}", "pci_address": "0000:03:00.0"}
CUDA = ROCM | {"kind": "cuda"}


@pytest.fixture(autouse=True)
def without_stub():
    """Other tests see the modules that were there before."""
    with restored(MODULES):
        yield


def test_a_hip_build_calls_its_devices_cuda_and_reports_rocm():
    module = install([gpu(uuid="0", bus=9), gpu()], hip="6.4")
    device = module.Device()
    reply = device.open(ROCM)
    assert device.build() == "hip"
    assert (device.torch.type, device.torch.index) == ("cuda", 1)
    assert reply["device"]["kind"] == "rocm" and reply["device"]["pci_address"] == "0000:03:00.0"
    assert "why" not in reply
    assert device.kind_of(SimpleNamespace(device=device.torch)) == "rocm"


def test_every_gpu_is_listed_with_its_facts():
    first = gpu(uuid="0", bus=9)
    first.gcnArchName, first.total_memory = "gfx950:sramecc+:xnack-", 288 << 30
    listed = install([first, gpu()], hip="7.2").Device().listed()
    assert listed[0] == {
        "kind": "rocm",
        "name": "AMD Instinct MI300X",
        "uuid": "0",
        "pci_address": "0000:09:00.0",
        "architecture": "gfx950:sramecc+:xnack-",
        "total_memory": 288 << 30,
    }
    # An older torch has neither.
    assert listed[1] == {"kind": "rocm", "name": "AMD Instinct MI300X", "uuid": UUID, "pci_address": "0000:03:00.0"}
    assert install([], hip="7.2").Device().listed() == []


def test_without_a_gpu_the_cpu_is_a_fallback_with_a_reason():
    for hip, cuda, part in (("6.4", None, "HIP 6.4"), (None, "13.2", "CUDA 13.2"), (None, None, "no GPU")):
        device = install([], hip=hip, cuda=cuda).Device()
        reply = device.open(ROCM)
        assert reply["device"] == {"kind": "cpu", "name": "cpu"}
        assert part in reply["why"] and "sees no GPU" in reply["why"]


def test_a_build_for_the_other_vendor_is_a_fallback():
    reply = install([gpu()], hip="6.4").Device().open(CUDA)
    assert reply["device"]["kind"] == "cpu" and "built for rocm, not for cuda" in reply["why"]
    reply = install([gpu()], cuda="13.2").Device().open(ROCM)
    assert reply["device"]["kind"] == "cpu" and "built for cuda, not for rocm" in reply["why"]


def test_another_gpu_than_the_requested_one_is_not_opened():
    reply = install([gpu(uuid="0", bus=9)], cuda="13.2").Device().open(CUDA)
    assert reply["device"]["kind"] == "cpu" and "none of them" in reply["why"]


def test_the_index_decides_between_partitions_of_a_gpu():
    """They have one unique id, and torch does not have the function of an address."""
    module = install([gpu(uuid="0", bus=9), gpu(), gpu(), gpu()], hip="7.2")
    for index in (1, 2, 3):
        device = module.Device()
        assert "why" not in device.open(ROCM | {"index": index, "pci_address": f"0000:03:00.{index - 1}"})
        assert device.torch.index == index
    reply = module.Device().open(ROCM | {"index": 0})
    assert reply["device"]["kind"] == "cpu" and "3 GPUs that may be" in reply["why"]


def test_gpus_without_a_unique_id_differ_in_their_address():
    zeros = "30303030-3030-3030-3030-303030303030"
    module = install([gpu(uuid=zeros, bus=9), gpu(uuid=zeros)], hip="7.2")
    target = ROCM | {"uuid": "GPU-0000000000000000"}
    device = module.Device()
    device.open(target)
    assert device.torch.index == 1
    # An id of zeros, here as characters, is none.
    assert module.Device().open(target | {"pci_address": "0000:07:00.0"})["device"]["kind"] == "cpu"
    assert module.Device().open(target | {"pci_address": None})["device"]["kind"] == "cpu"


def test_the_unique_id_of_an_amd_gpu_is_in_the_characters_of_its_uuid():
    characters = b"81a38d5e4d1e5bc5".hex()
    uuid = "-".join(characters[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    module = install([gpu(uuid="0", bus=9), gpu(uuid=uuid)], hip="7.2")
    device = module.Device()
    reply = device.open(ROCM | {"uuid": "GPU-81a38d5e4d1e5bc5", "pci_address": None})
    assert device.torch.index == 1 and reply["device"]["uuid"] == "GPU-81a38d5e4d1e5bc5"
    # The UUID of another vendor is what it is.
    assert install([gpu(uuid=uuid)], cuda="13.2").Device().listed()[0]["uuid"] == uuid


def test_a_torch_without_identities_opens_nothing():
    reply = install([SimpleNamespace(name="a GPU")], cuda="13.2").Device().open(CUDA)
    assert reply["device"]["kind"] == "cpu"


def test_the_peak_is_counted_from_the_load_on_and_summed_over_gpus():
    module = install([gpu(uuid="0", bus=9), gpu()], hip="7.2")
    highest = {0: 5 << 20, 1: 7 << 20}
    module.torch.cuda.max_memory_allocated = highest.__getitem__
    module.torch.cuda.reset_peak_memory_stats = lambda index: highest.update({index: 1 << 20})
    device = module.Device()
    device.open(ROCM)
    assert device.peak() is None, "nothing was loaded, so that it would be the peak of something else"
    device.begin_peak()
    assert device.peak() == 2 << 20
    highest[1] = 9 << 20
    assert device.peak() == 10 << 20
    # torch counts no peak on the CPU.
    host = module.Device()
    host.begin_peak()
    assert host.peak() is None


def test_tf32_is_off_unless_asked_for():
    module = install([], cuda="13.2")
    for enabled in (False, True):
        module.set_tf32(enabled)
        assert module.torch.backends.cuda.matmul.allow_tf32 is enabled
        assert module.torch.backends.cudnn.allow_tf32 is enabled
