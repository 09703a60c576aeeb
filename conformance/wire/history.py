"""Views of the replies of one session, each with those before it.

Recordings mix unrelated conversations, and users ask again, so only a request that sends an earlier reply back, or
names it, belongs to the session of that reply.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.elements import Reply, Usage
from conformance.wire.index import Index
from conformance.wire.values import as_object
from conformance.wire.views import Side, View

LOOK_BACK: Final = 16
"""How many replies back a rule looks at each reply, so that a session costs no more than its replies."""


class LaterReply(NamedTuple):
    """A reply of a session, and those before it in the same session, the latest first, at most `LOOK_BACK`."""

    place: Place
    value: Reply
    earlier: Sequence[Reply]


class LaterUsage(NamedTuple):
    """A usage object of a session, and those of the replies before it, the latest first."""

    place: Place
    value: Usage
    earlier: Sequence[Usage]


class LaterId(NamedTuple):
    """The id of a reply that continues a session; `first`: the place of the same id in an earlier reply of it."""

    place: Place
    value: str
    first: Place | None


class ModelNames(NamedTuple):
    """The name of the model in a reply, and the one that its request asks for."""

    place: Place
    value: str
    asked: str


class _SessionLinks:
    """Finds the exchange that each one continues, and the one that it continues whether or not a reply comes back.

    Where the server holds the history, the request names the reply that it continues, or the conversation. A request
    that repeats another one and goes on without its reply counts as another session.
    """

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._links: list[_SessionLink] = []

    def add(self, index: Index, number: int) -> "_SessionLink":
        found = index.continuation_of(number) if number else None
        replied = found.earlier if found is not None and found.returned else None
        any_ = None if found is None else found.earlier
        native = index.conversation[number].native
        if native is not None:
            named = native.facts.get("conversation")
            conversation = as_object(named).get("id", named)
            # A reply is one exchange; a conversation stands for the last one of it.
            keys = [native.facts.get("previous_response_id"), conversation]
            held = self._held
            earlier = next((held[key] for key in keys if type(key) is str and key in held), None)
            held |= {key: number for key in (as_object(native.reply).get("id"), conversation) if type(key) is str}
            if earlier is not None:
                replied = any_ = earlier
        link = _SessionLink(
            # Only so many, or the links of a session would take as much as its length squared.
            () if replied is None else (replied, *self._links[replied].replied[: LOOK_BACK - 1]),
            () if any_ is None else (any_, *self._links[any_].any[: LOOK_BACK - 1]),
        )
        self._links.append(link)
        return link


class _SessionLink(NamedTuple):
    """The exchanges before one in its session, the latest first: those whose replies come back, and any."""

    replied: tuple[int, ...]
    any: tuple[int, ...]


def _later_replies(index: Index, number: int) -> Sequence[LaterReply]:
    own = index.parts[number].replies
    before = index.grown(_SessionLinks, number).replied if own else ()
    if not before:
        return ()
    earlier = [reply for each in before for reply in index.parts[each].replies]
    return [LaterReply(reply.place, reply, earlier) for reply in own]


def _later_usages(index: Index, number: int) -> Sequence[LaterUsage]:
    own = index.parts[number].usages[-1:]
    before = index.grown(_SessionLinks, number).any if own else ()
    if not before:
        return ()
    return [LaterUsage(own[0].place, own[0], [usage for each in before for usage in index.parts[each].usages[-1:]])]


class _LaterIds:
    """Finds the ids of the replies that continue a session, each with the first reply of it that has the same."""

    def __init__(self) -> None:
        self._roots: dict[int, int] = {}
        self._seen: dict[tuple[int, str], int] = {}

    def add(self, index: Index, number: int) -> Sequence[LaterId]:
        before = index.grown(_SessionLinks, number).replied
        root = self._roots[number] = self._roots[before[0]] if before else number
        given = member_of_reply(index, number, "id")
        if given is None:
            return ()
        place, identity = given
        first = self._seen.setdefault((root, identity), number)
        if not before:
            return ()
        # A reply that was recorded twice, or that a cache gave twice, is one reply.
        is_other = first != number and _messages(index, first) != _messages(index, number)
        return [LaterId(place, identity, (first, "response") if is_other else None)]


def _later_ids(index: Index, number: int) -> Sequence[LaterId]:
    return index.grown(_LaterIds, number) if number else ()


def _messages(index: Index, number: int) -> Any:
    return as_object(index.conversation[number].request).get("messages")


def _models(index: Index, number: int) -> Sequence[ModelNames]:
    if not index.parts[number].replies:
        return ()
    asked = as_object(index.conversation[number].request).get("model")
    given = member_of_reply(index, number, "model")
    return [ModelNames(*given, asked)] if type(asked) is str and given is not None else ()


def member_of_reply(index: Index, number: int, key: str) -> tuple[Place, str] | None:
    """Return a text at the top of a reply, or of the first chunk that has it, with its place; None if there is none."""
    response: Any = index.conversation[number].response
    if type(response) is dict:
        value = response.get(key)
        return ((number, "response", key), value) if type(value) is str and value else None
    for stream in index.parts[number].streams:
        for at in stream.ordinary():
            value = as_object(stream.value.chunks[at]).get(key)
            if type(value) is str and value:
                return (number, "response", at, key), value
    return None


later_replies: Final = View("reply that continues a session", Side.PROVIDER, _later_replies)
later_usages: Final = View("usage object of a reply that continues a session", Side.PROVIDER, _later_usages)
later_ids: Final = View("id of a reply that continues a session", Side.PROVIDER, _later_ids)
model_names: Final = View("name of the model in a reply", Side.PROVIDER, _models)
