from conformance.results import Level
from conformance.rules import BESIDE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests

_CLAIM = "messages.blank-stop"
_TEXT = "stop_sequences: each stop sequence must contain non-whitespace"
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: type(request.value.get("stop_sequences")) is list,
    source=Source("https://github.com/BerriAI/litellm/issues/3286", _TEXT),
    bad=[
        example("messages-plain", {"/0/request/stop_sequences": ["\n"]}, _REFUSED),
        example("messages-plain", {"/0/request/stop_sequences": ["END", ""]}, _REFUSED),
    ],
    good=[example("messages-plain", {"/0/request/stop_sequences": ["\n\nHuman:"]}, _REFUSED)],
    claim=_CLAIM,
    wires=("messages",),
    reach=BESIDE,
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """A stop sequence has more than white space.

    Other hosts take a line break as one. To fix it, leave it out, and cut the reply at the line break yourself.
    """
    return [
        Fault(f"expected a text that is not blank, got {text!r:.20}", ("stop_sequences", position))
        for position, text in enumerate(request.value["stop_sequences"])
        if type(text) is str and not text.strip()
    ]
