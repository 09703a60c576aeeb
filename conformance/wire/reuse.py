"""Calls that are gone because their id was used again: a client that keys calls by id keeps the last of each.

Hosts that number the calls of each reply from 0 use ids again, so a call is identified by its id, name and arguments.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conformance.wire.elements import Call
from conformance.wire.keys import key_of
from conformance.wire.resent import calls_in, same_arguments
from conformance.wire.text import content_text, quoted


def is_same_call(one: Call, other: Call) -> bool:
    """Return whether two calls have one id, one name and the same arguments."""
    return one.id == other.id and one.name == other.name and same_arguments(one.arguments, other.arguments)


def overwritten(calls: Iterable[Call], messages: Sequence[Any], known: Iterable[Call]) -> list[Call]:
    """Return the calls that no message has, while one has another known call with the same id.

    `known`: the calls of all replies. A call whose arguments a client changed is none of them, and not meant here.
    """
    by_id: dict[Any, list[Call]] = {}
    for sent in calls_of_messages(messages):
        by_id.setdefault(key_of(sent.id), []).append(sent)
    rivals: dict[Any, list[Call]] = {}
    for each in known:
        if key_of(each.id) in by_id:
            rivals.setdefault(key_of(each.id), []).append(each)
    return [call for call in calls if _is_overwritten(call, by_id.get(key_of(call.id), []), rivals)]


def _is_overwritten(call: Call, same_id: list[Call], rivals: dict[Any, list[Call]]) -> bool:
    if type(call.id) is not str or not call.id or any(is_same_call(call, sent) for sent in same_id):
        return False
    return any(is_same_call(rival, sent) for rival in rivals.get(key_of(call.id), ()) for sent in same_id)


def calls_of_messages(messages: Sequence[Any]) -> Iterator[Call]:
    """Yield the calls of all messages, in order."""
    for message in messages:
        if type(message) is dict and message.get("role") == "assistant":
            yield from calls_in(message)


def result_of(call: Call, histories: Iterable[Sequence[Any]]) -> str | None:
    """Return the text of the result of a call in the first history that has one; None if none has."""
    for messages in histories:
        for number, message in enumerate(messages):
            if type(message) is dict and any(is_same_call(call, each) for each in calls_in(message)):
                found = _result(call, message, messages[number + 1 :])
                if found is not None:
                    return found
    return None


def _result(call: Call, turn: dict[str, Any], following: Sequence[Any]) -> str | None:
    """Return the result of a call among the messages that follow its own; calls with one id have theirs in order."""
    same_id = [each for each in calls_in(turn) if each.id == call.id]
    position = next(at for at, each in enumerate(same_id) if is_same_call(call, each))
    for message in following:
        if type(message) is not dict or message.get("role") != "tool":
            return None
        if message.get("tool_call_id") == call.id:
            if not position:
                return content_text(message.get("content"))
            position -= 1
    return None


def missing(call: Call, histories: Iterable[Sequence[Any]]) -> str:
    """Return the words for a call that is gone, with its result if one of the histories shows it."""
    result = result_of(call, histories)
    shown = "its result" if result is None else f"the result {quoted(result)}"
    return f"expected the call {described(call)} with {shown}, got it missing: its id was used again"


def described(call: Call) -> str:
    """Return the name and the arguments of a call."""
    return f"{call.name!s:.60} {call.arguments!s:.120}"
