"""A fake torch with the devices that a test asks for; the real one is not needed."""

import sys
from types import ModuleType, SimpleNamespace

from fresh_modules import forget

MODULES = ("torch", "engine.engine_device")
UUID = "81a38d5e-4d1e-5bc5-8f9f-1a2b3c4d5e6f"


class FakeDevice:
    """A `torch.device`."""

    def __init__(self, kind, index=None):
        self.type, self.index = kind, index


def gpu(uuid=UUID, bus=3):
    """The properties of a GPU."""
    return SimpleNamespace(name="AMD Instinct MI300X", uuid=uuid, pci_domain_id=0, pci_bus_id=bus, pci_device_id=0)


def install(gpus, hip=None, cuda=None):
    """Puts the fake in the place of torch, and returns the engine's module of devices on top of it."""
    torch = ModuleType("torch")
    torch.__version__ = "2.11.0"
    torch.version = SimpleNamespace(hip=hip, cuda=cuda)
    torch.device = FakeDevice
    torch.zeros = lambda *_, **__: None
    torch.Tensor = FakeDevice
    torch.backends = SimpleNamespace(
        cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=None)), cudnn=SimpleNamespace(allow_tf32=None)
    )
    torch.cuda = SimpleNamespace(
        is_available=lambda: bool(gpus),
        device_count=lambda: len(gpus),
        get_device_properties=lambda device: gpus[getattr(device, "index", device)],
        set_device=lambda _: None,
    )
    for name in MODULES:
        forget(name)
    sys.modules["torch"] = torch
    from engine import engine_device

    return engine_device
