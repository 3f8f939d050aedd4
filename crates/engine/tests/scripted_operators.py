"""The operator `copy` of the scripted engine, and its faults."""

TYPES = {"i32": "I64", "bool": "U8"}
CALLS = {"count": 0}


def answer(mode, request, tensors, write, serialized):
    """Sends the response to one call of an operator."""
    CALLS["count"] += 1
    identifier, element = request["id"], request["inputs"][0]["element"]
    shape, elements = tensors["input.0"]
    if mode == "operators_fail":
        return write({"id": identifier, "error": {"kind": "failed", "message": "the device is lost"}})
    if elements and (mode == "operators_off" or (mode == "operators_alternate" and CALLS["count"] % 2)):
        elements = [*elements[:-1], 1 - elements[-1] if element == "bool" else elements[-1] + 1]
    if mode == "operators_reversed" and request["inputs"][0]["layout"] == "reversed":
        elements = elements[::-1]
    device = "cuda" if mode == "operators_elsewhere" else "cpu"
    declared = "i32" if mode == "operators_as_integers" else element
    reply = {"element": declared, "device": device}
    return write({"id": identifier, "reply": reply}, serialized({"result": (TYPES.get(element, "F32"), shape, elements)}))
