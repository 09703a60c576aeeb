"""Which request goes on from which earlier one of a session.

A client sends its whole history each time, so the later request holds the earlier one and the reply to it. That it
goes on from it is told by what is echoed, not by the order: recordings hold unrelated conversations side by side.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.changes import Change, changes, key, shared
from conformance.wire.elements import Reply, Resent, calls_of
from conformance.wire.exchange import Conversation
from conformance.wire.resent import same_arguments

_LOOK_BACK: Final = 32
"""How many requests back one is looked for that stands whole in a later one, where no reply tells."""


class Sequel(NamedTuple):
    """A request that goes on from an earlier one, that of exchange number `earlier`.

    `changes` tells of the earlier messages that were not simply kept, reasoning aside. `replies` are those to the
    earlier request; `returned` says whether one of them comes back; `end` is where it does, or ought to. `sole`: no
    other request has the same messages, so that what stands there can only be meant for these replies.
    """

    place: Place
    value: dict[str, Any]
    earlier: int
    changes: list[Change]
    replies: list[Reply]
    returned: bool
    end: int
    sole: bool


def sequels(conversation: Conversation, replies: Sequence[Reply], resent: Sequence[Resent]) -> list[Sequel]:
    """Return how each request goes on that goes on from another one; `resent` says which messages carry replies."""
    lists = [_messages(exchange.request) for exchange in conversation]
    numbers = {id(reply): number for number, reply in enumerate(replies)}
    carried: list[dict[int, int]] = [{} for _ in conversation]
    for part in resent:
        carried[int(part.place[0])][int(part.place[3])] = numbers[id(part.reply)]
    given: dict[int, list[Reply]] = {}
    for reply in replies:
        given.setdefault(int(reply.place[0]), []).append(reply)
    found = []
    for later, after in enumerate(lists):
        back = {int(replies[number].place[0]): at for at, number in carried[later].items()}
        link = _link(later, lists, back, given)
        if link is not None:
            earlier, end = link
            changed = changes(lists[earlier], after[:end], carried[earlier], carried[later])
            body: Any = conversation[later].request
            sole = lists.count(lists[earlier]) == 1
            found.append(
                Sequel((later, "request"), body, earlier, changed, given.get(earlier, []), earlier in back, end, sole)
            )
    return found


def _messages(body: Any) -> list[Any]:
    messages = body.get("messages") if type(body) is dict else None
    return messages if type(messages) is list else []


def _link(
    later: int, lists: Sequence[list[Any]], back: Mapping[int, int], given: Mapping[int, list[Reply]]
) -> tuple[int, int] | None:
    """Return which request another goes on from, and where its messages end there.

    One that is there as a whole goes before one of the same length of which only the reply is known again.
    """
    whole, known = _by_prefix(later, lists, back), _by_reply(back, lists[later], lists, given)
    if whole is None or known is None:
        return whole or known
    return known if len(lists[known[0]]) > len(lists[whole[0]]) else whole


def _by_reply(
    back: Mapping[int, int], after: list[Any], lists: Sequence[list[Any]], given: Mapping[int, list[Reply]]
) -> tuple[int, int] | None:
    """Return the latest request whose reply comes back, and where it does; equal words alone tell nothing."""
    for earlier in sorted(back, reverse=True):
        at = back[earlier]
        if _is_telling(after[at], given[earlier]) or _is_echoed(lists[earlier], after[:at]):
            return earlier, at
    return None


def _is_telling(message: dict[str, Any], replies: Sequence[Reply]) -> bool:
    """Say whether a message has a call of these replies, by its id and its arguments."""
    listed = message.get("tool_calls")
    sent = calls_of(listed, (), None) if type(listed) is list else []
    return any(
        bool(call.id) and any(back.id == call.id and same_arguments(back.arguments, call.arguments) for back in sent)
        for reply in replies
        for call in reply.calls
    )


def _is_echoed(before: list[Any], after: list[Any]) -> bool:
    """Say whether a message that is not the system's comes again."""
    known = {key(message) for message in after if not _is_system(message)}
    return any(key(message) in known for message in before if not _is_system(message))


def _by_prefix(later: int, lists: Sequence[list[Any]], back: Mapping[int, int]) -> tuple[int, int] | None:
    """Return the longest request whose messages all begin this one, with more after them, and where they end.

    Of several that are alike it is the one whose reply comes back, then the latest.
    """
    after = lists[later]
    best: tuple[int, bool, int] | None = None
    for earlier in range(max(0, later - _LOOK_BACK), later):
        before = lists[earlier]
        rank = len(before), earlier in back, earlier
        if len(before) < len(after) and (best is None or rank > best) and not all(map(_is_system, before)):
            best = rank if shared(before, after) == len(before) else best
    return None if best is None else (best[2], best[0])


def _is_system(message: Any) -> bool:
    return type(message) is not dict or message.get("role") in ("system", "developer")
