"""Puts back what an earlier reply of the session had: reasoning, signatures, calls, ids and text.

What the client lost on the way is known then: the reply is in the same file.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance import wires
from conformance.convert import parse_reply
from conformance.convert.egress import request_fields, with_reasoning
from conformance.documents.pointer import copied, render
from conformance.fixes.content import CALLS, REASONING
from conformance.fixes.fixers.history import without_index
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.wire.elements import Reply, Resent
from conformance.wire.native import CHAT, Native
from conformance.wire.reasoning import ALL_KEYS, CANONICAL, PARTS, TEXT_KEYS
from conformance.wire.values import as_object, objects

ORDER: Final = 10
RULES: Final = (
    "reasoning/*",
    "transcript/reply-resent*",
    "transcript/result-answers-call",
    "messages/*",
    "gemini/*",
    "responses/*",
    "native/*",
    "request/arguments-are-json",
    "request/assistant-message-not-empty",
    "request/tool-call-id*",
    "request/no-local-only-fields",
    "shape/*",
)

_SPARED: Final = frozenset({CALLS, REASONING})
"""What the model said is what its reply says: what a client made of that is not worth keeping."""

_OF_REPLY: Final = ("content", "tool_calls", "refusal", *ALL_KEYS)
_CALL_IDS: Final = ("tool_call_id", "tool_use_id", "call_id")
_SAME: Final = ("type", "call_id")
_LISTS: Final = {"messages": "messages", "responses": "input", "gemini": "contents"}


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests in which messages that send replies back are as those replies were."""
    own = [each for each in problem.index.resent if each.place[0] == problem.number]
    near = [each for each in own if _covers(problem, each, problem.place)] or own[-1:]
    for returned in near:
        if problem.exchange.protocol == CHAT:
            origin = render(returned.reply.place)
            for message in _messages(returned, problem):
                request = _with_message(problem, returned, message)
                yield Candidate(request, "send back the reply's own", origin, _SPARED)
        else:
            yield from _native_candidates(problem, [returned])
    if len(own) > 1 and problem.exchange.protocol != CHAT:
        yield from _native_candidates(problem, own)


def _native_candidates(problem: ClientProblem, turns: Sequence[Resent]) -> Iterator[Candidate]:
    """Yield requests of another wire with some turns as that wire sends their replies back."""
    origin = f"/{turns[0].reply.place[0]}/response"
    for named in (True, False):
        request = problem.request
        # From the last, so that the places of the others stay.
        for returned in sorted(turns, key=lambda each: each.place, reverse=True):
            native = problem.translated[int(returned.reply.place[0])].native
            changed = None if native is None else _with_own(problem, request, returned, native, named=named)
            request = request if changed is None else changed
        if request is not problem.request:
            yield Candidate(request, "send back the reply's own", origin, _SPARED)


def _covers(problem: ClientProblem, returned: Resent, at: Sequence[Any]) -> bool:
    """Return whether a place of the body is in a message, or holds it."""
    native = problem.exchange.native
    if native is None:
        return tuple(at[:2]) == tuple(returned.place[2:])[: len(at[:2])]
    return any(tuple(place[1:3]) == tuple(at[:2]) for place in _native_places(native, int(returned.place[3])))


def _native_places(native: Native, position: int) -> list[tuple[Any, ...]]:
    message = ("request", "messages", position)
    return [tuple(there) for here, there in native.places.items() if here[:3] == message]


def _messages(returned: Resent, problem: ClientProblem) -> Iterator[dict[str, Any]]:
    """Yield a message as its reply was: with the reasoning where the provider reads it, then where the reply had it."""
    reply, value = returned.reply.message, returned.value
    said: dict[str, Any] = {key: copied(reply[key]) for key in _OF_REPLY if key in reply}
    if reply.get("tool_calls"):
        said["tool_calls"] = [copied(without_index(call)) for _, call in objects(reply["tool_calls"])]
    bare = {key: each for key, each in {**value, **said}.items() if key not in ALL_KEYS}
    canonical = _canonical(returned.reply, problem)
    held: dict[str, Any] = {key: value[key] for key in ALL_KEYS if key in value}
    thinks: dict[str, Any] = {key: reply[key] for key in ALL_KEYS if key in reply}
    for field in request_fields(problem.claims, problem.contested):
        if field not in PARTS:
            yield with_reasoning(bare, field, canonical)
            yield with_reasoning({**bare, **{key: held[key] for key in held if key not in TEXT_KEYS}}, field, canonical)
    yield {**bare, **held, **thinks}
    yield {**bare, **thinks}
    for field in CANONICAL:
        yield with_reasoning(bare, field, canonical)
    # Only the reasoning of the reply, beside what the client says.
    mine = {key: each for key, each in value.items() if key not in ALL_KEYS}
    yield {**mine, **thinks}


def _canonical(reply: Reply, problem: ClientProblem) -> dict[str, Any]:
    exchange = problem.translated[int(reply.place[0])]
    return parse_reply(exchange, problem.profile)


def _with_message(problem: ClientProblem, returned: Resent, message: dict[str, Any]) -> Any:
    """Return the request with a message, and the results that follow it with the ids of its calls."""
    position = int(returned.place[3])
    messages = list(problem.request["messages"])
    ids = _renamed(objects(returned.value.get("tool_calls")), objects(message.get("tool_calls")), "id")
    messages[position] = message
    for later in range(position + 1, len(messages)):
        if as_object(messages[later]).get("role") != "tool":
            break
        old = messages[later].get("tool_call_id")
        if old in ids:
            messages[later] = {**messages[later], "tool_call_id": ids[old]}
    return {**problem.request, "messages": messages}


def _renamed(old: Any, new: Any, key: str) -> dict[Any, Any]:
    """Return the new id for each old one that is another; nothing if an id is that of several calls."""
    before, after = ([each.get(key) for _, each in calls] for calls in (old, new))
    if len(before) != len(after) or len(set(before)) != len(before):
        return {}
    return {one: other for one, other in zip(before, after, strict=True) if one != other}


def _with_own(problem: ClientProblem, request: Any, returned: Resent, native: Native, *, named: bool) -> Any:
    """Return the request of another wire with a turn in the form in which that wire sends a reply back.

    `named`: with the ids of its items, which some hosts make in a form that others reject.
    """
    own = wires.by_name(native.protocol).writing.own(native)
    if not named:
        if native.protocol != "responses" or own is None:
            return None
        own = [{key: value for key, value in each.items() if key != "id"} for each in own]
    holder = _LISTS[native.protocol]
    asked = problem.exchange.native
    places = [] if asked is None else _native_places(asked, int(returned.place[3]))
    numbers = sorted({int(place[2]) for place in places if len(place) > 2 and place[1] == holder})
    if own is None or not numbers:
        return None
    units = list(request[holder])
    first, last = numbers[0], numbers[-1]
    if native.protocol == "responses":
        before = [each for each in units[first : last + 1] if as_object(each).get("type") == "function_call"]
        ids = _renamed(enumerate(before), ((0, each) for each in own if each.get("type") == "function_call"), "call_id")
        units[first : last + 1] = [_like(each, units[first : last + 1]) for each in own]
    elif native.protocol == "messages":
        before, after = (
            [(0, block) for _, block in objects(content) if block.get("type") == "tool_use"]
            for content in (units[first].get("content"), own)
        )
        ids = _renamed(before, after, "id")
        units[first] = {**units[first], "content": own}
    else:
        ids = {}
        units[first] = {**units[first], "parts": own.get("parts", [])}
    rest = [_with_ids(unit, ids) for unit in units[first + 1 :]] if ids else units[first + 1 :]
    return {**request, holder: [*units[: first + 1], *rest]}


def _like(item: dict[str, Any], sent: Sequence[Any]) -> dict[str, Any]:
    """Return an item of a reply with the id that the client sends, if it sends the item with one."""
    for each in sent:
        if (
            as_object(each).get("type") == item.get("type")
            and "id" in each
            and item.get("call_id") == each.get("call_id")
        ):
            return {"id": each["id"], **item}
    return item


def _with_ids(unit: Any, ids: Mapping[Any, Any]) -> Any:
    """Return a unit of a request with other ids of calls in its results."""
    if isinstance(unit, list):
        return [_with_ids(each, ids) for each in unit]
    if not isinstance(unit, dict):
        return unit
    kept = {key: _with_ids(each, ids) if isinstance(each, list) else each for key, each in unit.items()}
    for key in _CALL_IDS:
        if isinstance(kept.get(key), str) and kept[key] in ids:
            kept[key] = ids[kept[key]]
    return kept
