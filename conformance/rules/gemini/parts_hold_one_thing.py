from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, native_keys, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object
from conformance.wires.gemini.names import camel_case, listed

_NONE = "gemini.part-without-data"
_SEVERAL = "gemini.part-with-several-data"
_MISSING = "required oneof field 'data' must have one initialized field"
_REFUSED = {
    _NONE: {"status": 400, "message": f"* GenerateContentRequest.{{path}}.data: {_MISSING}"},
    _SEVERAL: {"status": 400, "message": "Invalid value at '{path}' (oneof), oneof field 'data' is already set."},
}
_TEXT = "/0/request/contents/0/parts/0"
_IMAGE = {"mimeType": "image/png", "data": "iVBORw0KGgo="}

DATA: Final = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
)  # fmt: skip
_BESIDE: Final = frozenset({"thought", "videoMetadata", "partMetadata", "mediaResolution"})
"""What stands beside content and is none; a part with another name may hold what this list lacks."""


@rule(
    Level.MUST,
    on=requests,
    source=Source("https://github.com/router-for-me/CLIProxyAPI/issues/1292", _MISSING),
    bad=[
        example("gemini-result", {_TEXT: {"thought": True}}, _REFUSED),
        example("gemini-result", {_TEXT: {"text": "Hello.", "inlineData": _IMAGE}}, _REFUSED),
        example("gemini-result", {_TEXT: {"inline_data": _IMAGE, "text": "Hello."}}, _REFUSED),
    ],
    good=[
        example("gemini-result", claims=_REFUSED),
        example("gemini-session", claims=_REFUSED),
        example("gemini-result", {_TEXT: {"toolCall": {"id": "a"}}}, _REFUSED),
    ],
    reads=(_NONE, _SEVERAL),
    wires=("gemini",),
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """A part holds one thing: a text, a call, a response or a file.

    Translators that leave out an empty text send the part without it, and clients that merge the pieces of a stream put
    text and call into one. To fix it, leave out parts that hold nothing, and split the others.
    """
    faults = []
    for number, found in in_messages(context.index, context.number, _odd_parts):
        for at, held in found:
            place = ("contents", number, "parts", *at)
            path = native_keys.vendor_path("gemini", place, request.value)
            if not held:
                values = {"path": path, "index": number}
                faults.append(
                    Fault("expected a text, a call or a file in the part, got none", place, None, values, _NONE)
                )
            else:
                values = {"path": path, "index": number, "field": held[1]}
                message = f"expected one of {' and '.join(held)} in the part, got both"
                faults.append(Fault(message, place, None, values, _SEVERAL))
    return faults


def _odd_parts(content: Any) -> list[tuple[Place, list[str]]]:
    """Return the parts of a content that hold nothing or several things, each with what it holds."""
    found: list[tuple[Place, list[str]]] = []
    for at, part in listed(as_object(content).get("parts")):
        names = [camel_case(key) for key, value in part.items() if value is not None]
        held = [name for name in names if name in DATA]
        if part and _BESIDE.issuperset(names):
            found.append((at, []))
        elif len(held) > 1:
            found.append((at, held))
    return found
