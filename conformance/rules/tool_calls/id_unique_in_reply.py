from conformance.results import Level
from conformance.rules import WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_calls
from conformance.wire.elements import Reply
from conformance.wire.keys import key_of
from conformance.wire.views import replies


@rule(
    Level.MUST,
    on=replies,
    among=reply_has_calls,
    where=lambda reply, _context: len(reply.calls) > 1,
    source=Source(
        "https://github.com/HKUDS/nanobot/pull/3943",
        "reuse the same raw `tool_call_id` across multiple calls",
    ),
    bad=[example("tool-call-parallel", {"/0/response/choices/0/message/tool_calls/1/id": "call_a"})],
    good=[example("tool-call-parallel"), example("stream-tool-calls")],
    wires=WITH_IDS,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """The tool calls of one reply have distinct ids.

    Two calls with one id get two results with one id, which only their order tells apart, and providers that check for
    duplicates reject the next request. To fix it, number or randomize ids within a reply.
    """
    seen: set[object] = set()
    faults = []
    for call in reply.calls:
        key = key_of(call.id)
        if call.id and key in seen:
            message = f"expected an id that is new in this reply, got {call.id!r:.60} again"
            faults.append(Fault(message, place=(*call.place, "id")))
        seen.add(key)
    return faults
