"""The target among the GPUs that a library lists: part of the engines `torch` and `onnxruntime`."""

import re


def find(gpus, target):
    """The index of the target among GPUs, and None; or None, and why it is not known.

    Partitions of a GPU share its slot, and torch does not have the function of an address. If several GPUs agree with the target in as
    much, the index decides, which is that among the visible GPUs in both programs.
    """
    agreements = [agreement(gpu, target) for gpu in gpus]
    most, name = max(agreements, default=0), target.get("uuid") or target.get("pci_address")
    if most == 0:
        return None, f"{len(gpus)} GPUs, none of them {name}: {gpus}"
    same = [index for index, count in enumerate(agreements) if count == most]
    if len(same) == 1:
        return same[0], None
    if target["index"] in same:
        return target["index"], None
    return None, f"{len(same)} GPUs that may be {name}, none of them with the index {target['index']}: {gpus}"


def agreement(gpu, target):
    """How much of two identities agrees: UUID, slot, and function of the slot."""
    equal = [plain(gpu.get(name)) == plain(target.get(name)) is not None for name in ("uuid", "pci_address")]
    return sum(equal) + (slot(gpu) == slot(target) is not None)


def slot(gpu):
    """The PCI address without its function."""
    address = plain(gpu.get("pci_address"))
    return address and address.rpartition(".")[0]


def plain(identifier):
    """An identifier without what libraries write differently; None for one of zeros, which GPUs without a unique id have."""
    found = (identifier or "").lower().removeprefix("gpu-").removeprefix("mig-").replace("-", "")
    return found if re.search("[^0:.]", found) else None


def unique_id(uuid):
    """The unique id of an AMD GPU. HIP has its 16 hexadecimal digits as characters in the place of a UUID, and torch prints these bytes in
    hexadecimal again."""
    try:
        digits = bytes.fromhex(uuid.replace("-", "")).decode("ascii")
    except ValueError:
        return uuid
    return f"GPU-{digits}" if re.fullmatch("[0-9a-fA-F]{16}", digits) else uuid
