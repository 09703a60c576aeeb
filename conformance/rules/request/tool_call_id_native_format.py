from conformance import linear
from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.wire.elements import Body
from conformance.wire.views import requests

_OTHER = {"/0/request/messages/1/tool_calls/0/id": "toolu_1", "/0/request/messages/2/tool_call_id": "toolu_1"}
_CLAIMS = {"ids.format": "call_[a-z]", "ids.foreign": "damaged"}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages("ids.foreign") and "ids.input-pattern" not in claimed.claims,
    source=Source(
        package="pypi/vllm@0.33.0:vllm/parser/mistral.py#L104",
        quote="Mistral Tool Call Ids must be alphanumeric with a length of 9.",
    ),
    bad=[example("tool-result", _OTHER, _CLAIMS)],
    good=[example("tool-result", claims=_CLAIMS)],
    needs=("ids.foreign", "ids.format"),
    claim="ids.foreign",
    reads=("ids.input-pattern",),
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call ids have the provider's own format if it rejects or corrupts others.

    Templates that read the function name from the id misread the ids of another host. To fix it, give the calls of
    another host ids of this format, the same in the call and in its result.
    """
    patterns = as_words(context.claim("ids.format"))
    return [
        Fault(
            f"expected an id that matches {' or '.join(patterns)}, got {call.id[:40]!r}",
            place=(*call.place, "id"),
            values={"id": call.id, "position": call.position},
        )
        for turn in context.turns
        for call in turn.calls
        if type(call.id) is str and call.id and not any(linear.fits(each, call.id) for each in patterns)
    ]
