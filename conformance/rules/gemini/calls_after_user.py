from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object, objects
from conformance.wires.gemini.names import of_either

_CLAIM = "gemini.call-not-after-user"
_TEXT = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: bool(in_messages(context.index, context.number, _calls)),
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/continuedev/continue/issues/11164", _TEXT),
    bad=[
        example("gemini-result", {"/0/request/contents/0": {"role": "model", "parts": [{"text": "Hello."}]}}, _REFUSED),
        example("gemini-result", {"/0/request/contents/0": REMOVE}, _REFUSED),
    ],
    good=[example("gemini-result", claims=_REFUSED), example("gemini-session", claims=_REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("gemini",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """Calls come after a content of the user.

    Histories that are cut at their beginning start with the model's call; contents of one role that follow each other
    count as one. To fix it, cut a history before a content of the user.
    """
    for number, content in objects(request.value.get("contents")):
        if content.get("role", "user") != "model":
            return []
        if _calls(content):
            message = "expected a content of the user before these calls, got none"
            return [Fault(message, ("contents", number), values={"index": number})]
    return []


def _calls(content: Any) -> bool:
    if as_object(content).get("role") != "model":
        return False
    return any([of_either(part, "functionCall") is not None for _, part in objects(content.get("parts"))])
