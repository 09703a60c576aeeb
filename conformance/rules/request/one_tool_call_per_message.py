from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import ToolTurn
from conformance.wire.views import tool_turns

_CALL = {"id": "call_2", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
_SECOND = {
    "/0/request/messages/1/tool_calls/-": _CALL,
    "/0/request/messages/-": {"role": "tool", "tool_call_id": "call_2", "content": "24"},
}
_REFUSED = {"request.several-calls": {"status": 400, "message": "Multiple tool calls are not supported."}}


@rule(
    Level.MUST,
    on=tool_turns,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages("request.several-calls"),
    source=Source("https://github.com/BerriAI/litellm/pull/31633", "Multiple tool calls are not supported."),
    bad=[example("tool-result", _SECOND, _REFUSED)],
    good=[example("tool-result", claims=_REFUSED)],
    needs=("request.several-calls",),
    claim="request.several-calls",
)
def judge(turn: ToolTurn, _context: Context) -> list[Fault]:
    """Assistant messages have one tool call each if the provider rejects several.

    The canonical wire sends the calls of a reply back as they came. A few hosts accept one call a message, so that a
    conversation with parallel calls from elsewhere fails. To fix it, send one assistant message for each call, with its
    result directly after it.
    """
    count = len(turn.value["tool_calls"])
    if count < 2:
        return []
    return [Fault(f"expected one tool call, got {count}", at=("tool_calls",), values={"count": count})]
