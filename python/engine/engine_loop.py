"""The loop that answers calls: part of the engines `torch` and `onnxruntime`.

Nothing but the protocol is written to standard output, whatever libraries print: import this module before them.
"""

import os
import sys

from engine import engine_protocol
from engine.engine_protocol import CallError, Unsupported

REQUESTS = os.fdopen(os.dup(0), "rb")
RESPONSES = os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)


def serve(engine):
    """Answers calls until the pipe is closed, then ends without the destructors of libraries, which print pages about objects that
    were not freed."""
    calls = None
    while (message := engine_protocol.read(REQUESTS)) is not None:
        request, blob = message
        identifier, name = request.pop("id"), request.pop("call")
        try:
            if engine.missing is not None:
                raise Unsupported(engine.missing)
            if name == "hello":
                calls = engine.calls(request.pop("options"))
                reply = {"version": engine_protocol.VERSION, "versions": engine.versions(), "build": calls.device.build()}
                reply, tensors = reply | engine.described(), {}
            else:
                reply, tensors = getattr(calls, name)(engine.decoded(blob) if blob else {}, **request)
            answer, blob = {"id": identifier, "reply": reply}, engine.encoded(tensors) if tensors else b""
        except Exception as error:
            failure = engine_protocol.failure(error)
            if calls is not None and engine.has_lost_device(calls):
                failure["kind"] = "device_lost"
            answer, blob = {"id": identifier, "error": failure}, b""
            # The end of the traceback goes to standard error, which testgen shows if this process dies.
            if not isinstance(error, CallError):
                sys.excepthook(*sys.exc_info())
        if calls is not None and answer.get("error", {}).get("kind") == "out_of_memory":
            # Here the traceback no longer holds the tensors of the failed call.
            engine.recover(calls)
        engine_protocol.write(RESPONSES, answer, blob)
    engine.close()
    os._exit(0)
