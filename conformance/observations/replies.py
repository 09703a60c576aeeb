"""What a reply shows, plain or assembled from a stream: ids, calls, content, reasoning, finish reasons, its members."""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

from conformance.observations.sights import (
    ExchangeView,
    Sight,
    blank,
    canonical_keys,
    further,
    happens,
    listed,
    partial,
    value,
)
from conformance.profiles import Claims
from conformance.wire.elements import Call, Reply
from conformance.wire.ids import positional_ids
from conformance.wire.index import Index
from conformance.wire.reasoning import FOREIGN, KEYS, TAGS, carried_fields, foreign_keys, has_field

_NO_CLAIMS: Final[Claims] = MappingProxyType({})

_OF_A_CALL: Final = frozenset({"function", "id", "index", "type"})
"""The keys that every tool call may have; a claim of its own is about `index`."""


def sights(view: ExchangeView, claims: Claims) -> Iterator[Sight]:
    """Yield what the replies of an exchange show, and the members of its body if it is not streamed."""
    body = view.exchange.response
    if isinstance(body, dict) and "choices" in body:
        yield from _body(view, body, claims)
    for reply in view.elements.replies:
        if reply.place[0] == view.number:
            yield from calls(reply, view.elements)
            yield from _without_arguments(reply)
            yield from reasoning(reply, claims)
            yield from _reasoning_members(reply, claims)
            yield from _finish(reply)


def omitted_keys(*bodies: dict[str, Any]) -> list[str]:
    """Return the keys of the canonical wire that a reply, or a chunk of one, omits or leaves empty."""
    return [key for key in ("created", "model") if any(body.get(key) in (None, "") for body in bodies)]


def _body(view: ExchangeView, body: dict[str, Any], claims: Claims) -> Iterator[Sight]:
    yield value("reply.object", body.get("object", "absent"))
    yield from partial("reply.omitted-fields", omitted_keys(body))
    if isinstance(body.get("id"), str):
        yield value("reply.id-format", body["id"])
    yield from model_name(view, body)
    yield from further("reply.fields", body, canonical_keys("response"), claims)
    for choice in body["choices"] if isinstance(body["choices"], list) else ():
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            continue
        message = choice["message"]
        yield from further("reply.choice-fields", choice, canonical_keys("response", "choice"), claims)
        yield from further("reply.message-fields", message, canonical_keys("response", "message"), claims)
        yield happens("finish.missing", choice.get("finish_reason") is None)
        calls = message.get("tool_calls")
        if not calls:
            yield value("reply.tool-calls-when-none", blank(message, "tool_calls"))
            continue
        yield value("content.in-tool-reply", blank(message, "content"))
        yield from _call_members([call for call in calls if isinstance(call, dict)])


def _call_members(calls: list[dict[str, Any]]) -> Iterator[Sight]:
    indexes = [call.get("index", "absent") for call in calls]
    if all(each == "absent" for each in indexes):
        yield value("reply.call-index", "absent", "sometimes")
    elif all(each is None for each in indexes):
        yield value("reply.call-index", "null")
    elif all(each == -1 for each in indexes):
        yield value("reply.call-index", "negative")
    elif indexes == list(range(len(indexes))):
        yield value("reply.call-index", "present", "sometimes")
    present = {"type" in call for call in calls}
    yield value("reply.call-type", *(("present", "sometimes") if present == {True} else ("absent", "sometimes")))
    yield from listed("reply.call-fields", [key for call in calls for key in call], _OF_A_CALL)


def calls(reply: Reply, elements: Index) -> Iterator[Sight]:
    """Yield what the tool calls of a reply show, beside the calls of the request that it answers.

    A call without an id repeats none.
    """
    if not reply.calls:
        return
    yield value("tools.supported", True)  # noqa: FBT003 — the value that is seen
    ids = [call.id for call in reply.calls if isinstance(call.id, str) and call.id]
    if len(reply.calls) > 1:
        yield value("tools.parallel", True)  # noqa: FBT003 — as above
    if len(ids) > 1:
        yield value("ids.unique-in-reply", len(set(ids)) == len(ids))
    name = "ids.format-in-stream" if reply.streamed else "ids.format"
    for call in reply.calls:
        if isinstance(call.id, str):
            yield Sight(name, (call.id,), function=str(call.name or ""))
    earlier = [call.id for call in elements.calls if call.place[0] == reply.place[0]]
    if earlier and ids:
        yield value("ids.unique-in-conversation", not set(ids) & set(earlier))
    yield from _numbering(reply, len(earlier))


def _numbering(reply: Reply, earlier: int) -> Iterator[Sight]:
    """Yield how the ids of a reply are numbered, given how many calls the request holds."""
    positions = [_position(call) for call in reply.calls]
    first = list(range(len(positions)))
    if None in positions:
        yield value("ids.numbering", "random")
    elif earlier and positions == [earlier + each for each in first]:
        yield value("ids.numbering", "conversation", "model")
    elif positions == first:
        yield value("ids.numbering", "turn", "model", *(() if earlier else ("conversation",)))
    else:
        yield value("ids.numbering", "model")


def _position(call: Call) -> int | None:
    """Return the number in an id that consists of the function's name and a number; None for any other id."""
    if not isinstance(call.id, str) or not isinstance(call.name, str):
        return None
    number = re.sub(r".*\D", "", call.id)
    return int(number) if number and call.id in positional_ids(call.name, int(number)) else None


def _without_arguments(reply: Reply) -> Iterator[Sight]:
    """Yield what calls have as arguments whose function declares no parameters."""
    tools = (reply.request or {}).get("tools")
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    bare = {
        each.get("name")
        for each in functions
        if isinstance(each, dict) and not (each.get("parameters") or {}).get("properties")
    }
    for call in reply.calls:
        if call.name in bare and isinstance(call.arguments, str):
            yield value("arguments.when-none", call.arguments)


def reasoning_fields(message: dict[str, Any], claims: Claims = _NO_CLAIMS) -> list[str]:
    """Return the fields under which a reply carries reasoning: also between tags, or under a key that is claimed."""
    foreign = foreign_keys(claims.get("reasoning.response-field"))
    inside = [name for name in (*TAGS, "extra_content") if has_field(message, name)]
    return carried_fields(message) + inside + [f"{FOREIGN}{key}" for key in foreign if message.get(key)]


def whole_message(reply: Reply, claims: Claims) -> dict[str, Any]:
    """Return the message of a reply with the whole reasoning under a key that is claimed; see `Reply.texts`."""
    keys = foreign_keys(claims.get("reasoning.response-field"))
    return {**reply.message, **{key: reply.texts[key] for key in keys if key in reply.texts}}


def is_reasoned(message: dict[str, Any]) -> bool:
    """Return whether a reply carries reasoning, or the signature of reasoning whose text is withheld."""
    return bool(reasoning_fields(message)) or has_field(message, "reasoning_opaque")


def reasoning(reply: Reply, claims: Claims = _NO_CLAIMS) -> Iterator[Sight]:
    """Yield each field under which a reply carries reasoning; `none` is not evidence against a field."""
    fields = reasoning_fields(reply.message, claims)
    if fields:
        yield from (value("reasoning.response-field", field) for field in fields)
    else:
        yield from partial("reasoning.response-field", ["none"])


def _reasoning_members(reply: Reply, claims: Claims) -> Iterator[Sight]:
    message = reply.message
    claimed = claims.get("reasoning.response-field")
    named = [each for each in (claimed if isinstance(claimed, list) else [claimed]) if each in KEYS]
    if named and not reply.streamed and not reasoning_fields(message):
        yield value("reasoning.when-none", blank(message, named[0]))
    signature = claims.get("signature.field")
    if isinstance(signature, str) and _reaches(message, signature.split("/")):
        yield value("signature.field", signature)
    details = message.get("reasoning_details")
    items = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    if items:
        yield from listed("reasoning.details.types", [item["type"] for item in items if "type" in item])
        yield from listed("reasoning.details.formats", [item["format"] for item in items if item.get("format")])
        yield from _detail_index(items)


def _reaches(held: Any, path: list[str]) -> bool:
    """Return whether a path leads to a value; `*`, or a key of the items of a list, stands for any item."""
    if not path:
        return bool(held)
    if isinstance(held, list):
        return any(_reaches(each, path[1:] if path[0] == "*" else path) for each in held)
    return isinstance(held, dict) and path[0] in held and _reaches(held[path[0]], path[1:])


def _detail_index(items: list[dict[str, Any]]) -> Iterator[Sight]:
    indexes = [item.get("index") for item in items]
    if all(each is None for each in indexes):
        yield value("reasoning.details.index", "absent")
    elif len(items) > 1:
        yield value("reasoning.details.index", "unique" if len(set(indexes)) == len(indexes) else "repeated")
    else:
        yield value("reasoning.details.index", "unique", "repeated")


def _finish(reply: Reply) -> Iterator[Sight]:
    reason, request = reply.finish_reason, reply.request or {}
    if not isinstance(reason, str):
        return
    if reason:
        yield value("finish.reasons", reason)
    if not reply.calls:
        return
    choice = request.get("tool_choice")
    if reason == "length":
        yield value("finish.with-truncated-call", reason)
    elif isinstance(choice, dict) and choice.get("type", "function") == "function":
        yield value("finish.with-named-tool-choice", reason)
    elif choice in ("required", "any"):
        yield value("finish.with-required-tool-choice", reason)
    elif not isinstance(choice, dict):
        yield value("finish.with-calls-in-stream" if reply.streamed else "finish.with-calls", reason)
        if reply.streamed:
            yield Sight("finish.with-calls", (reason,), partial=True)


def model_name(view: ExchangeView, body: dict[str, Any]) -> Iterator[Sight]:
    """Yield whether a reply or chunk gives the name that was requested."""
    request = view.exchange.request
    asked = request.get("model") if isinstance(request, dict) else None
    if isinstance(asked, str) and isinstance(body.get("model"), str) and body["model"]:
        # The name of one version is the same before and after it is resolved.
        yield value("reply.model", *(("requested", "resolved") if body["model"] == asked else ("resolved",)))
