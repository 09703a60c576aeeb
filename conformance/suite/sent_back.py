"""What the next request carries of a reply: the reply's own blocks, as they came.

A translation would repair what it cannot hold: put thinking in order, drop an empty text, add what is missing. Then the
suite would test its own repair. What cannot be sent back as it came is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.convert.egress import Note, Prepared
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT, OWN
from conformance.wire.reasoning import ALL_KEYS, TEXT_KEYS
from conformance.wire.values import as_object, objects
from conformance.wires import by_name

_NUMBER: Final = "index"
"""The key of a call of chat completions that numbers it in a reply, and that no request has."""

_EXTRA: Final = "extra_content"

_LEFT_OUT: Final = ("reasoning.on-earlier-tool-turn", "reasoning.input.")
"""How the claims begin for which reasoning is left out on every wire."""

_FORMS: Final = ("reasoning.request-field", "content.", "request.", "results.")
"""How the claims begin that say in which of its forms a message of chat completions is sent."""


class OwnTurn(NamedTuple):
    """What a reply said: in the form of its own wire, and as the message of chat completions that was read from it."""

    form: Any
    message: Mapping[str, Any]

    @classmethod
    def of(cls, exchange: Exchange, message: Mapping[str, Any]) -> "OwnTurn":
        """Return what the reply of an exchange said; `message` is the message of its first choice."""
        native = exchange.native
        return cls(message if native is None else by_name(native.protocol).writing.own(native), message)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Return the calls as they came, without what only numbers them."""
        listed = [call for _, call in objects(self.message.get("tool_calls"))]
        return [{key: value for key, value in call.items() if key != _NUMBER} for call in listed]


def with_own_turns(
    prepared: Prepared, transcript: Sequence[Mapping[str, Any]], own: Mapping[int, OwnTurn], wire: str
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the messages of a request with what the replies of the provider said as they said it, and notes.

    `own`: what the replies said, by their position in the transcript. A note says what is sent otherwise, and why.
    """
    messages: list[dict[str, Any]] = []
    notes: list[str] = []
    ids: list[Any] = []
    left: dict[int, list[dict[str, Any]]] = {origin: turn.calls for origin, turn in own.items()}
    for message, origin in zip(prepared.messages, prepared.origins, strict=True):
        if message["role"] == "tool":
            messages.append(_with_id(message, ids.pop(0)) if ids else message)
        elif origin not in own:
            messages.append(message)
            ids = []
        else:
            calls = _take(left[origin], len(message.get("tool_calls") or ()))
            ids = [call.get("id", ...) for call in calls]
            changes = list(_claimed_changes(prepared.notes, origin, wire))
            if wire == CHAT:
                messages.append(_chat_turn(message, transcript[origin], own[origin].message, calls))
                changes += _chat_changes(messages[-1], own[origin].message)
            else:
                messages.append(message if changes else {**message, OWN: own[origin].form})
            notes += changes
    return messages, tuple(dict.fromkeys(notes))


def _take(calls: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the next calls of a reply and remove them; where one call to a message is required, they are several."""
    taken = calls[:count]
    del calls[:count]
    return taken


def _with_id(message: dict[str, Any], identity: Any) -> dict[str, Any]:
    """Return a result with the id of its call as it came; without one if the call had none."""
    rest = {key: value for key, value in message.items() if key != "tool_call_id"}
    return rest if identity is ... else {**message, "tool_call_id": identity}


def _claimed_changes(notes: Sequence[Note], origin: int, wire: str) -> Iterator[str]:
    """Yield what is changed in a reply because the profile says that the provider refuses it."""
    # On other wires, a message has one form, that of the reply. Whatever else `prepare` changes would be a repair.
    known = (*_LEFT_OUT, *_FORMS) if wire == CHAT else _LEFT_OUT
    for note in notes:
        is_inside = f"{note.pointer}/".startswith(f"/{origin}/")
        if is_inside and note.fixed and note.claim.startswith(known):
            yield f"the reply is not sent back as it came: {note.reason} (the profile claims {note.claim})"


def _chat_turn(
    message: dict[str, Any], source: Mapping[str, Any], own: Mapping[str, Any], calls: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return a message of chat completions with these calls as they came, and no reasoning that the reply has not.

    What a claim removes beside the calls stays removed; nothing is added to them.
    """
    if not any([source.get(key) for key in ALL_KEYS]):
        message = {key: value for key, value in message.items() if key not in ALL_KEYS or key in source}
        message |= {key: own[key] for key in TEXT_KEYS if isinstance(own.get(key), (list, dict))}
    sent = [call for _, call in objects(message.get("tool_calls"))]
    # The order of keys says nothing, and recorded requests have that of the transcript.
    if not sent or len(sent) != len(calls) or sent == calls:
        return message
    had_extra = any([_EXTRA in call for _, call in objects(source.get("tool_calls"))])
    drops_extra = had_extra and not any([_EXTRA in call for call in sent])
    dropped = (_EXTRA,) if drops_extra else ()
    return {**message, "tool_calls": [{k: v for k, v in call.items() if k not in dropped} for call in calls]}


def _chat_changes(message: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a message of chat completions leaves out or writes otherwise than the reply had it."""
    content = own.get("content")
    if content != message.get("content") and not (content is None and message.get("content") == ""):
        kind = "a list" if isinstance(content, list) else "text"
        yield f"the reply's content, {kind}, is not sent back as it came"
    for key, value in own.items():
        if key not in message and key not in ("content", "role", "tool_calls") and value not in (None, "", [], {}):
            yield f"the reply's {key} is not sent back under that name"


def with_change(body: Mapping[str, Any], origin: Exchange) -> dict[str, Any]:
    """Return a changed request in which the replies of the provider are as they came but for the change.

    `origin` is the exchange whose request was changed. On chat completions, requests are changed as they were sent.
    """
    native = origin.native
    if native is None:
        return dict(body)
    writing = by_name(native.protocol).writing
    before, after = (writing.request(each) for each in (origin.request or {}, body))
    return {**body, OWN: merged(as_object(native.request), before, after)}


def merged(own: Any, before: Any, after: Any) -> Any:
    """Return a value with the change between two other values, which a translation of it became.

    `before` is the translation without the change, and `after` with it. What did not change is as it came.
    """
    if before == after:
        return own
    if type(own) is type(before) is type(after) is dict:
        return dict(_merged_members(own, before, after))
    if type(own) is type(before) is type(after) is list and (groups := _groups(own, before)) is not None:
        return list(_merged_items(groups, before, after))
    return after


def _merged_members(
    own: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    for key, value in own.items():
        if key in after and key in before:
            yield key, merged(value, before[key], after[key])
        elif key in after or key not in before:
            yield key, after.get(key, value)
    for key, value in after.items():
        if key not in own and (key not in before or value != before[key]):
            yield key, value


def _groups(own: Sequence[Any], before: Sequence[Any]) -> list[list[Any]] | None:
    """Return the items of a list that each item of its translation stands for; None if that cannot be said.

    A translation leaves items out, so several may go with one: the one that it was made of is the first.
    """
    if len(own) == len(before):
        return [[item] for item in own]
    groups: list[list[Any]] = []
    for item in own:
        if len(groups) < len(before) and _is_alike(item, before[len(groups)]):
            groups.append([item])
        elif groups:
            groups[-1].append(item)
        else:
            return None
    return groups if len(groups) == len(before) else None


def _is_alike(own: Any, before: Any) -> bool:
    """Return whether an item may have been translated to another one: they are of one kind, by what names it."""
    if type(own) is not dict or type(before) is not dict or own.keys().isdisjoint(before.keys() - {"type", "role"}):
        return False
    return all([own.get(key) == before.get(key) for key in ("type", "role", "call_id", "thought")])


def _merged_items(groups: Sequence[Sequence[Any]], before: Sequence[Any], after: Sequence[Any]) -> Iterator[Any]:
    """Yield the items of a list after a change; those that stayed are as they came, wherever they stand now."""
    left = list(range(len(before)))
    for position, item in enumerate(after):
        same = next((number for number in left if before[number] == item), None)
        if same is not None:
            left.remove(same)
            yield from groups[same]
        elif len(before) == len(after):
            first, *others = groups[position]
            yield from (merged(first, before[position], item), *others)
        else:
            yield item
