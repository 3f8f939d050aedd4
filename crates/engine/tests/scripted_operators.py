"""The operator `copy` of the scripted engine, and its faults."""

TYPES = {"i32": "I64", "bool": "U8"}
CALLS = {"count": 0}
# Periods of results that remain on the device, by number.
KEPT = {}


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
    if "repeated" in request and mode != "repeats_lost":
        KEPT[identifier] = elements
        kept = {"result": identifier, "shape": request["repeated"]["shapes"][0]}
        return write({"id": identifier, "reply": {"element": element, "device": device, "kept": kept}})
    declared = "i32" if mode == "operators_as_integers" else element
    reply = {"element": declared, "device": device}
    return write({"id": identifier, "reply": reply}, serialized({"result": (TYPES.get(element, "F32"), shape, elements)}))


def answer_kept(mode, request, write, serialized):
    """Sends the response to a call about a result that remains on the device."""
    identifier, period = request["id"], KEPT.get(request["result"])
    if period is None:
        return write({"id": identifier, "error": {"kind": "failed", "message": "an unknown result"}})
    if request["call"] == "drop_result":
        del KEPT[request["result"]]
        return write({"id": identifier, "reply": {}})
    count = request["count"] - (mode == "repeats_cut")
    elements = [period[(request["first"] + index) % len(period)] for index in range(count)]
    return write({"id": identifier, "reply": {}}, serialized({"result": ("F32", [count], elements)}))
