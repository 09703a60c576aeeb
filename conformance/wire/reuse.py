"""Calls that are gone because their id was used again: a client that keys calls by id keeps the last of each.

Hosts that number the calls of each reply from 0 use ids again, so a call is identified by its id, name and arguments.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.wire.elements import Call
from conformance.wire.same_calls import call_key, calls_in, same_arguments
from conformance.wire.text import content_text, quoted

if TYPE_CHECKING:
    from conformance.wire.index import Index


def is_same_call(one: Call, other: Call) -> bool:
    """Return whether two calls have one id, one name and the same arguments."""
    return one.id == other.id and one.name == other.name and same_arguments(one.arguments, other.arguments)


class SentCalls(NamedTuple):
    """The calls of a request, each by its key, and the ids of those among them that are known from elsewhere."""

    keys: Set[Any]
    known_ids: Set[Any]


def sent_calls(messages: Sequence[Any], *known: Set[Any]) -> SentCalls:
    """Return the calls of messages; `known`: keys of calls, such as those of all replies.

    A call whose arguments a client changed is none of the known ones.
    """
    keys = {call_key(call) for call in calls_of_messages(messages)}
    return SentCalls(keys, {key[0] for key in keys if any([key in each for each in known])})


class _CallsByKey(NamedTuple):
    """The calls of a request by their keys, and the ids of known ones, each with the position of the first message."""

    keys: dict[Any, int]
    known: dict[Any, int]

    def before(self, end: int) -> "_CallsByKey":
        """Return what the messages before a position have."""
        return _CallsByKey(*[{key: at for key, at in each.items() if at < end} for each in self])


class SentCallsOf:
    """Finds the calls of requests, one after the other; known are those of the replies before each."""

    def __init__(self) -> None:
        """Begin without any request."""
        self._found: list[_CallsByKey] = []

    def add(self, index: "Index", number: int) -> SentCalls:
        """Return the calls of the next request."""
        part, replied = index.parts[number], index.reply_call_keys(number)
        earlier, listed = part.earlier, part.listed or []
        keys, known = dict[Any, int](), dict[Any, int]()
        if earlier is not None:
            before = self._found[earlier.number]
            is_whole = part.common == len(earlier.listed or ())
            keys, known = map(dict, before if is_whole else before.before(part.common))
            for each in index.parts[earlier.number : number]:
                for key in map(call_key, each.reply_calls):
                    if key in keys:
                        known[key[0]] = min(keys[key], known.get(key[0], keys[key]))
        for position in range(part.common, len(listed)):
            for key in map(call_key, calls_of_messages(listed[position : position + 1])):
                if keys.setdefault(key, position) == position and key in replied:
                    known.setdefault(key[0], position)
        self._found.append(_CallsByKey(keys, known))
        return SentCalls(keys.keys(), known.keys())


def overwritten(calls: Iterable[Call], sent: SentCalls) -> list[Call]:
    """Return the calls that a request has not, while it has another known call with the same id."""
    with_id = [call for call in calls if type(call.id) is str and call.id in sent.known_ids and call.id]
    return [call for call in with_id if call_key(call) not in sent.keys]


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
