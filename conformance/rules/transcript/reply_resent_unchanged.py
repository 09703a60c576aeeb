from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import Call, Resent, calls_of
from conformance.wire.ids import id_of_place, is_of_place
from conformance.wire.keys import key_of
from conformance.wire.reasoning import untagged_text
from conformance.wire.reuse import is_same_call, missing, overwritten
from conformance.wire.same_calls import calls_in, same_arguments
from conformance.wire.text import content_text, quoted, quoted_difference
from conformance.wire.views import resent

_DAMAGED = {"ids.rewritten": "damaged"}
_CALL_ID, _RESULT_ID = "/1/request/messages/1/tool_calls/0/id", "/1/request/messages/2/tool_call_id"
_IDS = {_CALL_ID: "call_1", _RESULT_ID: "call_1"}
_NO_IDS = {_CALL_ID: id_of_place(0, 0), _RESULT_ID: id_of_place(0, 0)}


def _is_unchanged(returned: Resent) -> bool:
    """Return whether a message has the content and the calls of the reply, whatever else the request holds."""
    value, message = returned.value, returned.reply.message
    return bool(value.get("content") == message.get("content") and value.get("tool_calls") == message.get("tool_calls"))


def _is_settled(_returned: Resent, faults: Sequence[Fault]) -> bool:
    """Return whether no call is gone: what its result was, a later exchange may show."""
    return not any([fault.at == ("tool_calls",) and "id" in fault.values for fault in faults])


def _ids(returned: Resent) -> list[Any]:
    """Return the ids of a reply that comes back changed; with one that is used again, a call may be gone instead."""
    return [] if _is_unchanged(returned) else [call.id for call in returned.reply.calls]


@rule(
    Level.MUST,
    on=resent,
    reach=TURN,
    settled=_is_settled,
    until=_ids,
    harm=Harm.CONTENT,
    source=Source(
        "schemas/canonical/transcript.json",
        "A reply is sent back as received: its content, and the ids, names and arguments of its calls, byte for byte",
    ),
    bad=[
        example("stream-thinking-session", {"/1/request/messages/1/content": "Let me look."}),
        example("stream-thinking-session", {"/1/request/messages/1/tool_calls/0/function/name": "get_rain"}),
        example("stream-thinking-session", {"/1/request/messages/1/tool_calls/0/function/arguments": "{}"}),
        example("stream-thinking-session", _IDS),
        example("stream-thinking-session", _IDS, _DAMAGED),
        example("stream-thinking-session", _NO_IDS, {"ids.optional": True}),
        example("plain-session", {"/2/request/messages/2/content": "Nice to meet you."}),
    ],
    good=[
        example("thinking-session"),
        example("stream-thinking-session"),
        example("plain-session"),
        example("stream-thinking-session", {"/1/request/messages/1/content": REMOVE}),
    ],
    reads=(
        "ids.rewritten",
        "ids.optional",
        "arguments.malformed-in-request",
        "arguments.empty-in-request",
        "request.several-calls",
    ),
    wires=EVERY,
)
def judge(returned: Resent, context: Context) -> list[Fault]:
    """A reply is sent back unchanged: its content, and the ids, names and arguments of its calls.

    The model continues from what the history says that it said. Arguments that are parsed and written again miss the
    prompt cache; malformed ones are lost with what the model would learn from them. A changed id fails on templates
    that read the function name from it; where ids are optional, calls and results without them are paired by order. One
    reply that comes back as two messages is two turns to the model. Hosts use ids again, so a client that keeps one
    call per id loses the others. A reply is recognized by its text, its calls, or the messages before it. Other rules
    cover reasoning. To fix it, store the text of content and arguments as received, copy the ids, keep calls by their
    turn and position, and send one message per reply.
    """
    value, message = returned.value, returned.reply.message
    if _is_unchanged(returned):
        return []
    if _is_apart(returned, context):
        return []
    split = _split(returned, context)
    if split is not None:
        return [split]
    faults = [*_of_content(value.get("content"), message.get("content"))]
    listed = value.get("tool_calls")
    if listed == message.get("tool_calls") or not returned.reply.calls:
        return faults
    return [*faults, *_of_calls(calls_of(listed, (), None) if type(listed) is list else [], returned, context)]


def _of_calls(calls: list[Call], returned: Resent, context: Context) -> list[Fault]:
    """Check the calls of a message; one whose id was used again is missing, and has not changed."""
    number, given = int(returned.place[0]), returned.reply.calls
    reused = overwritten(given, context.index.sent_calls(number))
    gone = [call for call in reused if not any(_is_renamed(call, back) for back in calls)]
    if gone:
        histories = [_messages(each.request) for each in context.index.conversation[:number]]
        # What stands in the place of these calls follows from the same cause.
        return [Fault(missing(call, histories), at=("tool_calls",), values={"id": call.id}) for call in gone]
    if len(calls) != len(given):
        text = f"expected {len(given)} calls as in the reply, got {len(calls)}"
        return [Fault(text, at=("tool_calls",), values={"count": len(calls)})]
    # A client that gives a call another id, because its own was used before, keeps the two apart.
    ids = Counter([key_of(call.id) for call in (*given, *reused)])
    return [fault for back, call in zip(calls, given, strict=True) for fault in _of_call(back, call, ids, context)]


def _is_renamed(call: Call, back: Call) -> bool:
    """Return whether a call comes back as it was, but for its id."""
    return back.id != call.id and back.name == call.name and same_arguments(back.arguments, call.arguments)


def _messages(body: Any) -> list[Any]:
    messages = body.get("messages") if type(body) is dict else None
    return messages if type(messages) is list else []


def _is_apart(returned: Resent, context: Context) -> bool:
    """Return True if a call comes back in a message of its own because the provider rejects several in one."""
    sent = calls_in(returned.value)
    is_one = len(sent) == 1 and sent[0] in calls_in(returned.reply.message)
    return is_one and context.rejects_or_damages("request.several-calls")


def _split(returned: Resent, context: Context) -> Fault | None:
    """Return the fault of a reply that comes back as several messages: its text and its calls, or calls one by one."""
    number, reply = int(returned.place[3]), returned.reply
    messages = context.exchange.request["messages"]
    text = content_text(reply.message.get("content")).strip()
    sent = calls_in(returned.value)
    apart = [call for call in reply.calls if call.id and not any(is_same_call(call, back) for back in sent)]
    for position in _neighbours(messages, number) if reply.calls else ():
        other = messages[position]
        calls = calls_in(other)
        has_text = not calls and bool(text) and content_text(other.get("content")).strip() == text
        has_call = any(is_same_call(call, other_call) for call in apart for other_call in calls)
        if has_call or (has_text and not content_text(returned.value.get("content")).strip()):
            first, second = sorted((number, position))
            message = f"expected the reply in one message, got it split into messages {first} and {second}"
            return Fault(message, values={"role": "assistant"})
    return None


def _neighbours(messages: list[Any], number: int) -> Iterator[int]:
    """Yield the assistant messages directly before and after one; tool messages between them do not count."""
    for step in (-1, 1):
        position = number + step
        while 0 <= position < len(messages) and type(messages[position]) is dict:
            if messages[position].get("role") == "assistant":
                yield position
            if messages[position].get("role") != "tool":
                break
            position += step


def _of_content(back: Any, given: Any) -> Iterator[Fault]:
    """Check the text; empty content has several notations, and reasoning in tags is not returned of it."""
    if back == given:
        return
    sent, came = untagged_text(back), untagged_text(given)
    if sent != came:
        level = Level.SHOULD if sent.strip() == came.strip() else None
        old, new = quoted_difference(content_text(given), content_text(back))
        yield Fault(f"expected content {old}, got {new}", at=("content",), level=level)


def _of_call(back: Call, given: Call, ids: Counter[Any], context: Context) -> Iterator[Fault]:
    at = ("tool_calls", back.position)
    if back.id != given.id and _must_return(given.id, ids, context):
        is_absent = type(back.id) is str and is_of_place(back.id)
        text = f"expected id {quoted(given.id)}, got {'none' if is_absent else quoted(back.id)}"
        severity = Level.MAY if is_absent and context.claim("ids.optional") is True else Level.SHOULD
        yield Fault(text, at=(*at, "id"), values={"id": back.id}, claim="ids.rewritten", level=severity)
    if back.name != given.name:
        text = f"expected the name {quoted(given.name)}, got {quoted(back.name)}"
        yield Fault(text, at=(*at, "function", "name"), values={"name": back.name})
    if type(back.arguments) is str and back.arguments != given.arguments and not _must_change(given.arguments, context):
        # Clients that parse an empty text get no arguments, and write them as an empty object.
        same = same_arguments(back.arguments, given.arguments) or (given.arguments, back.arguments) == ("", "{}")
        old, new = quoted_difference(str(given.arguments), back.arguments)
        text = f"expected the arguments {old}, got {new}"
        level = Level.SHOULD if same else None
        yield Fault(text, at=(*at, "function", "arguments"), values={"name": back.name, "id": back.id}, level=level)


def _must_return(identity: Any, ids: Counter[Any], context: Context) -> bool:
    """Return whether an id has to be sent back: an empty or repeated id has to be replaced."""
    if type(identity) is not str or not identity:
        return False
    return ids[identity] == 1 or context.rejects_or_damages("ids.rewritten")


def _must_change(arguments: Any, context: Context) -> bool:
    """Return whether arguments have to be changed because the provider rejects them as received."""
    if type(arguments) is not str:
        return True
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return context.rejects_or_damages(
            "arguments.malformed-in-request" if arguments else "arguments.empty-in-request"
        )
    return False
