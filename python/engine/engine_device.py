"""The device: part of the engine `torch`."""

import gc

import torch

from engine import same_gpu

IS_HIP = torch.version.hip is not None
# torch calls the devices of a HIP build `cuda`, too.
GPU_KIND = "rocm" if IS_HIP else "cuda"


def set_tf32(enabled):
    """TF32 for products and convolutions; torch's own defaults differ between the two."""
    torch.backends.cuda.matmul.allow_tf32 = enabled
    torch.backends.cudnn.allow_tf32 = enabled


def set_modules_aside():
    """Objects of imported modules never change; without them the collector examines few objects, and it runs for every count of memory."""
    gc.collect()
    gc.freeze()


class Device:
    """The device that everything runs on."""

    def __init__(self):
        self.torch = torch.device("cpu")
        self.counts_peak = False

    def build(self):
        """The kind of GPU that this torch was built for."""
        if IS_HIP:
            return "hip"
        return "cuda" if torch.version.cuda is not None else "cpu"

    def open(self, target):
        """Opens the target device, the CPU if torch does not have it."""
        why = None
        if target["kind"] != "cpu":
            index, why = find(target)
            if why is None:
                self.torch = torch.device("cuda", index)
                torch.cuda.set_device(self.torch)
                torch.zeros(1, device=self.torch)
        return {"device": self.describe(), **({"why": why} if why else {})}

    def describe(self):
        """The device as torch reports it."""
        if self.torch.type == "cpu":
            return {"kind": "cpu", "name": "cpu"}
        return described(torch.cuda.get_device_properties(self.torch))

    def listed(self):
        """Every GPU that torch could open, in the order of its indices."""
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        found = [torch.cuda.get_device_properties(index) for index in range(count)]
        return [described(properties) | facts(properties) for properties in found]

    def kind(self):
        """The kind of the device."""
        return GPU_KIND if self.torch.type == "cuda" else "cpu"

    def kind_of(self, tensor):
        """The kind of device that a tensor is on."""
        return GPU_KIND if tensor.device.type == "cuda" else "cpu"

    def inputs(self, tensors):
        """Inputs on the device."""
        return {name: tensor.to(self.torch) for name, tensor in tensors.items()}

    def memory(self):
        """The bytes that tensors use."""
        gc.collect()
        if self.torch.type == "cuda":
            return sum(torch.cuda.memory_allocated(index) for index in range(torch.cuda.device_count()))
        storages = {}
        for tensor in (value for value in gc.get_objects() if issubclass(type(value), torch.Tensor)):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        return sum(storages.values())

    def begin_peak(self):
        """Starts to count the most bytes that tensors use."""
        if self.torch.type == "cuda":
            for index in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(index)
            self.counts_peak = True

    def peak(self):
        """The most bytes that tensors have used since the count began; None where torch counts none, as on the CPU."""
        if not self.counts_peak:
            return None
        # A model may be split over the GPUs. Each has its peak at another time, so that the sum is at least the peak of all.
        return sum(torch.cuda.max_memory_allocated(index) for index in range(torch.cuda.device_count()))

    def synchronize(self):
        """Returns when the device has computed everything."""
        if self.torch.type == "cuda":
            torch.cuda.synchronize(self.torch)

    def is_lost(self):
        """Whether a kernel has ended the context of this process, as an index out of range does on a GPU: every later call fails, too."""
        if self.torch.type != "cuda":
            return False
        try:
            torch.cuda.synchronize(self.torch)
        except RuntimeError:
            return True
        return False

    def recover(self):
        """Frees what a call that ran out of memory has left, so that the next one starts with the models alone."""
        gc.collect()
        self.release()

    def release(self):
        """Returns unused memory to the driver."""
        if self.torch.type == "cuda":
            torch.cuda.empty_cache()


def find(target):
    """The index of the target GPU, and None; or None, and why torch does not have it."""
    if not torch.cuda.is_available():
        build = f"HIP {torch.version.hip}" if IS_HIP else f"CUDA {torch.version.cuda}" if torch.version.cuda else "no GPU"
        return None, f"torch {torch.__version__} (built for {build}) sees no GPU"
    if target["kind"] != GPU_KIND:
        return None, f"torch {torch.__version__} is built for {GPU_KIND}, not for {target['kind']}"
    found = [identity(torch.cuda.get_device_properties(index)) for index in range(torch.cuda.device_count())]
    index, why = same_gpu.find(found, target)
    return index, why and f"torch sees {why}"


def described(properties):
    """A GPU as torch reports it."""
    return {"kind": GPU_KIND, "name": properties.name, **identity(properties)}


def facts(properties):
    """Architecture and memory, where this version of torch has them."""
    found = {"architecture": getattr(properties, "gcnArchName", None), "total_memory": getattr(properties, "total_memory", None)}
    return {key: value for key, value in found.items() if value is not None}


def identity(properties):
    """UUID and PCI address, where this version of torch has them."""
    found = {}
    if getattr(properties, "uuid", None) is not None:
        found["uuid"] = same_gpu.unique_id(str(properties.uuid)) if IS_HIP else str(properties.uuid)
    if hasattr(properties, "pci_bus_id"):
        domain, bus, device = properties.pci_domain_id, properties.pci_bus_id, properties.pci_device_id
        found["pci_address"] = f"{domain:04x}:{bus:02x}:{device:02x}.0"
    return found
