from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import objects

_CLAIM = "messages.first-assistant"
_TEXT = 'messages: first message must use the "user" role'
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}
_GREETING = {"role": "assistant", "content": "Hello."}


@rule(
    Level.SHOULD,
    on=requests,
    source=Source(
        "https://github.com/lobehub/lobehub/issues/1601", 'messages: first message must use the \\"user\\" role'
    ),
    bad=[
        example("messages-plain", {"/0/request/messages/0": _GREETING}, _REFUSED),
    ],
    good=[example("messages-plain", claims=_REFUSED), example("messages-result", claims=_REFUSED)],
    claim=_CLAIM,
    wires=("messages",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """The first message is one of the user.

    Histories that are cut at their beginning, and greetings of a program, start with the assistant; strict hosts reject
    them. To fix it, begin with a message of the user, or put the greeting into the system prompt.
    """
    for number, message in objects(request.value.get("messages")):
        if message.get("role") == "assistant":
            return [Fault("expected a message of the user first, got one of the assistant", ("messages", number))]
        return []
    return []
