"""Which request continues which earlier one of a session.

A client sends its whole history each time, so a later request contains the earlier one and the reply to it. Whether it
continues it is decided by its content, not by the order, because recordings mix unrelated conversations.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place
from conformance.wire.changes import MessageChange, common_prefix, find_changes, message_key
from conformance.wire.elements import Reply
from conformance.wire.same_calls import calls_in, same_arguments

if TYPE_CHECKING:
    from conformance.wire.index import Index

_LOOK_BACK: Final = 32
"""How many requests back to look for one that is a prefix of a later one, if no reply comes back."""


class Continuation(NamedTuple):
    """A request that continues an earlier one, that of exchange number `earlier`.

    `changes`: the earlier messages that are not there unchanged, apart from reasoning. `replies`: those to the earlier
    request. `returned`: whether one of them comes back. `end`: the position at which it does, or should. `is_unique`:
    whether one of them comes back or no other request has the same messages, so that a message at `end` can only stand
    for these replies.
    """

    place: Place
    value: dict[str, Any]
    earlier: int
    changes: list[MessageChange]
    replies: list[Reply]
    returned: bool
    end: int
    is_unique: bool


class Continuing:
    """Finds the requests that continue earlier ones, one request after the other.

    Where the server holds the history, a client cannot lose or change any of it.
    """

    def __init__(self) -> None:
        """Begin without any request."""
        self._lists: list[list[Any]] = []
        self._digests: dict[int, bytes] = {}

    def add(self, index: "Index", number: int) -> Continuation | None:
        """Return which earlier request the next one continues; None if it continues none."""
        exchange, lists = index.conversation[number], self._lists
        lists.append(_messages(exchange.request))
        native = exchange.native
        if not number or (native is not None and native.held is not None):
            return None
        found = index.resent_of(number)
        back = found.back
        link = self._link(index, number, back)
        if link is None:
            return None
        earlier, end = link
        before = index.resent_of(earlier).pairs
        changes = find_changes(lists[earlier], lists[number][:end], before, found.pairs, index.common(earlier, number))
        given, is_returned = index.parts[earlier].replies, earlier in back
        is_unique = is_returned or self._is_unique(earlier)
        place: Place = (number, "request")
        return Continuation(place, exchange.request, earlier, changes, given, is_returned, end, is_unique)

    def _is_unique(self, number: int) -> bool:
        """Return whether no other request so far has the messages of one."""
        # Digests are made when they are first asked for: in most sessions every reply comes back.
        length = len(self._lists[number])
        alike = [at for at, listed in enumerate(self._lists) if len(listed) == length]
        for at in alike if len(alike) > 1 else ():
            if at not in self._digests:
                self._digests[at] = _digest(self._lists[at])
        return len(alike) == 1 or [self._digests[at] for at in alike].count(self._digests[number]) == 1

    def _link(self, index: "Index", later: int, back: Mapping[int, int]) -> tuple[int, int] | None:
        """Return the request that another one continues, and the position at which its messages end there.

        Of two requests of the same length, one that is a prefix takes precedence over one of which only the reply
        returns.
        """
        lists = self._lists
        prefix, replied = _by_prefix(later, lists, back, index), _by_reply(back, lists[later], lists, index)
        if prefix is None or replied is None:
            return prefix or replied
        return replied if len(lists[replied[0]]) > len(lists[prefix[0]]) else prefix


def _messages(body: Any) -> list[Any]:
    messages = body.get("messages") if type(body) is dict else None
    return messages if type(messages) is list else []


def _digest(messages: list[Any]) -> bytes:
    """Return a short value that is the same for equal lists of messages."""
    # Imported here because it loads OpenSSL, and only a session of several exchanges needs it.
    from hashlib import blake2b

    try:
        data = orjson.dumps(messages, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A text that was not decoded from bytes may contain half of a surrogate pair.
        data = repr(messages).encode(errors="backslashreplace")
    return blake2b(data, digest_size=16).digest()


def _by_reply(
    back: Mapping[int, int], after: list[Any], lists: Sequence[list[Any]], index: "Index"
) -> tuple[int, int] | None:
    """Return the latest request whose reply comes back, and at which position; equal text alone is not evidence."""
    # The latest first: a history holds the replies to all requests before it, and continues the last one.
    for earlier in sorted(back, reverse=True):
        at = back[earlier]
        if _has_call_of(after[at], index.parts[earlier].replies) or _repeats(lists[earlier], after[:at]):
            return earlier, at
    return None


def _has_call_of(message: dict[str, Any], replies: Sequence[Reply]) -> bool:
    """Return whether a message has a call of these replies, with the same id and arguments."""
    sent = calls_in(message)
    return any(
        bool(call.id) and any(back.id == call.id and same_arguments(back.arguments, call.arguments) for back in sent)
        for reply in replies
        for call in reply.calls
    )


def _repeats(before: list[Any], after: list[Any]) -> bool:
    """Return whether a message that is not a system message occurs again."""
    if any(old == new and not _is_system(old) for old, new in zip(before, after, strict=False)):
        return True
    known = {message_key(message) for message in after if not _is_system(message)}
    return any(message_key(message) in known for message in before if not _is_system(message))


def _by_prefix(
    later: int, lists: Sequence[list[Any]], back: Mapping[int, int], index: "Index"
) -> tuple[int, int] | None:
    """Return the longest request whose messages are a proper prefix of this one's, and the length of that prefix.

    Of several equal ones, it is the one whose reply comes back, else the latest.
    """
    after = lists[later]
    ranks = [(len(lists[at]), at in back, at) for at in range(max(0, later - _LOOK_BACK), later)]
    for length, _, earlier in sorted(ranks, reverse=True):
        before = lists[earlier]
        # With the same system prompt alone, any two sessions would begin alike.
        if length >= len(after) or all(map(_is_system, before)):
            continue
        if common_prefix(before, after, index.common(earlier, later)) == length:
            return earlier, length
    return None


def _is_system(message: Any) -> bool:
    return type(message) is not dict or message.get("role") in ("system", "developer")
