"""The GPUs that a driver lists in this process, in the order of their indices: part of the engine `onnxruntime`, which has no such list."""

import ctypes

CUDA = ("libcuda.so.1",)
HIP = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so")


def visible_gpus(kind):
    """Name, UUID and PCI address of each; none without the driver's library."""
    try:
        return {"cuda": cuda_gpus, "rocm": hip_gpus}[kind](library(CUDA if kind == "cuda" else HIP))
    except OSError:
        return []


def library(names):
    """The first library that loads."""
    for name in names[:-1]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return ctypes.CDLL(names[-1])


def cuda_gpus(driver):
    """Through the CUDA driver."""
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    found = []
    for index in range(count.value):
        device = ctypes.c_int()
        driver.cuDeviceGet(ctypes.byref(device), index)
        calls = {"name": driver.cuDeviceGetName, "pci_address": driver.cuDeviceGetPCIBusId}
        gpu = {key: text(call, device) for key, call in calls.items()}
        uuid = (ctypes.c_ubyte * 16)()
        if driver.cuDeviceGetUuid(uuid, device) == 0:
            gpu["uuid"] = bytes(uuid).hex()
        found.append(present(gpu))
    return found


def hip_gpus(runtime):
    """Through the HIP runtime."""
    count = ctypes.c_int()
    if runtime.hipGetDeviceCount(ctypes.byref(count)) != 0:
        return []
    calls = {"name": runtime.hipDeviceGetName, "pci_address": runtime.hipDeviceGetPCIBusId}
    return [present({key: text(call, ctypes.c_int(index)) for key, call in calls.items()}) for index in range(count.value)]


def text(call, device):
    """The text that a call writes; None where it fails."""
    buffer = ctypes.create_string_buffer(256)
    return buffer.value.decode(errors="replace").lower() if call(buffer, len(buffer), device) == 0 else None


def present(gpu):
    """The facts that the driver has; every device has a name."""
    return {"name": "a GPU without a name"} | {key: value for key, value in gpu.items() if value}
