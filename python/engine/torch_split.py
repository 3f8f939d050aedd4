"""A model whose layers are split over all GPUs, by Hugging Face accelerate as with `device_map`: part of the engine `torch`."""

import torch

from engine.engine_protocol import Unsupported

try:
    import accelerate
except ImportError:
    accelerate = None


def split(model, device):
    """The model with its layers on all GPUs, an equal number of consecutive ones on each; `device` has the rest."""
    count = torch.cuda.device_count() if device.type == "cuda" else 1
    if count < 2:
        raise Unsupported("layers are split over several GPUs, and there is one device only")
    if accelerate is None:
        raise Unsupported("Python package `accelerate` is missing, which splits layers over GPUs; pip install accelerate")
    places = device_map(model, [(device.index + distance) % count for distance in range(count)])
    if set(places.values()) == {device.index}:
        raise Unsupported("the class has no list of layers")
    skipped = getattr(model, "_skip_keys_device_placement", None)
    return accelerate.dispatch_model(model.to(device), places, main_device=device.index, skip_keys=skipped)


def computed(work):
    """The result of a computation of a split model."""
    try:
        return work()
    except RuntimeError as error:
        # accelerate moves what a module receives. What a model combines of several layers, as Wav2Vec2 in the sum of all hidden states,
        # remains where it is.
        if "to be on the same device" not in str(error):
            raise
        raise Unsupported("transformers combines tensors of layers that are on different GPUs, and does not move them") from error


def device_map(model, devices):
    """The device of each module: of the layers in each outermost list all in turn, of others the first."""
    places = {name: devices[0] for name, _ in own_tensors(model)}
    for name, module in model.named_children():
        place(name, module, devices, places)
    return places


def own_tensors(module):
    """The parameters and buffers of a module and not of its parts."""
    return [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]


def place(name, module, devices, places):
    """Adds the devices of a module, or of its parts if there are layers among them."""
    if is_stack(module):
        for index in range(len(module)):
            places[f"{name}.{index}"] = devices[index * len(devices) // len(module)]
    elif any(is_stack(part) for part in module.modules()):
        for part_name, part in module.named_children():
            place(f"{name}.{part_name}", part, devices, places)
        places.update({f"{name}.{tensor}": devices[0] for tensor, _ in own_tensors(module)})
    else:
        places[name] = devices[0]


def is_stack(module):
    """Whether a module is a list of layers of one class, which are computed one after another. Modules without parts are not layers:
    PatchTST has a list with a projection for each channel, and stacks their results."""
    if not isinstance(module, torch.nn.ModuleList) or len(module) < 2:
        return False
    return len({type(layer) for layer in module}) == 1 and any(True for _ in module[0].children())
