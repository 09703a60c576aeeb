"""Views of the replies of one session, each with those before it.

Recordings mix unrelated conversations, and users ask again, so only a request that sends an earlier reply back, or
names it, belongs to the session of that reply.
"""

from collections.abc import Iterator, Mapping, Sequence
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


def _links(index: Index, *, needs_reply: bool = True) -> dict[int, int]:
    """Return the exchange that each one continues, by their numbers; those that continue none are left out.

    Where the server holds the history, the request names the reply that it continues, or the conversation.
    `needs_reply`: a request that repeats another one and goes on without its reply counts as another session.
    """
    if len(index.conversation) < 2:
        return {}
    found = {int(each.place[0]): each.earlier for each in index.continuations if each.returned or not needs_reply}
    held: dict[str, int] = {}
    for number, exchange in enumerate(index.conversation):
        native = exchange.native
        if native is None:
            continue
        named = native.facts.get("conversation")
        conversation = as_object(named).get("id", named)
        keys = [native.facts.get("previous_response_id"), conversation]
        earlier = next((held[key] for key in keys if type(key) is str and key in held), None)
        if earlier is not None:
            found[number] = earlier
        held |= {key: number for key in (as_object(native.reply).get("id"), conversation) if type(key) is str}
    return found


def _before(number: int, links: Mapping[int, int]) -> Iterator[int]:
    """Yield the numbers of the exchanges before one in its session, the latest first, at most `LOOK_BACK`."""
    for _ in range(LOOK_BACK):
        if number not in links:
            return
        number = links[number]
        yield number


def _later_replies(index: Index) -> list[LaterReply]:
    links = _links(index)
    of: dict[int, list[Reply]] = {}
    for reply in index.replies if links else ():
        of.setdefault(int(reply.place[0]), []).append(reply)
    return [
        LaterReply(reply.place, reply, [each for before in _before(number, links) for each in of.get(before, ())])
        for number in sorted(links)
        for reply in of.get(number, ())
    ]


def _later_usages(index: Index) -> list[LaterUsage]:
    links = _links(index, needs_reply=False)
    of = {int(usage.place[0]): usage for usage in index.usages} if links else {}
    return [
        LaterUsage(of[number].place, of[number], [of[each] for each in _before(number, links) if each in of])
        for number in sorted(links)
        if number in of
    ]


def _later_ids(index: Index) -> list[LaterId]:
    links = _links(index)
    roots: dict[int, int] = {}
    seen: dict[tuple[int, str], int] = {}
    found: list[LaterId] = []
    for number in sorted({*links, *links.values()}):
        root = roots[number] = roots.get(links.get(number, number), number)
        given = member_of_reply(index, number, "id")
        if given is None:
            continue
        place, identity = given
        first = seen.setdefault((root, identity), number)
        if number not in links:
            continue
        # A reply that was recorded twice, or that a cache gave twice, is one reply.
        is_other = first != number and _messages(index, first) != _messages(index, number)
        found.append(LaterId(place, identity, (first, "response") if is_other else None))
    return found


def _messages(index: Index, number: int) -> Any:
    return as_object(index.conversation[number].request).get("messages")


def _models(index: Index) -> list[ModelNames]:
    found = []
    for number in dict.fromkeys([int(reply.place[0]) for reply in index.replies]):
        asked, given = (
            as_object(index.conversation[number].request).get("model"),
            member_of_reply(index, number, "model"),
        )
        if type(asked) is str and given is not None:
            found.append(ModelNames(*given, asked))
    return found


def member_of_reply(index: Index, number: int, key: str) -> tuple[Place, str] | None:
    """Return a text at the top of a reply, or of the first chunk that has it, with its place; None if there is none."""
    response: Any = index.conversation[number].response
    if type(response) is dict:
        value = response.get(key)
        return ((number, "response", key), value) if type(value) is str and value else None
    for stream in index.of_exchange(index.streams, number):
        for at in stream.ordinary():
            value = as_object(stream.value.chunks[at]).get(key)
            if type(value) is str and value:
                return (number, "response", at, key), value
    return None


later_replies: Final = View("reply that continues a session", Side.PROVIDER, _later_replies)
later_usages: Final = View("usage object of a reply that continues a session", Side.PROVIDER, _later_usages)
later_ids: Final = View("id of a reply that continues a session", Side.PROVIDER, _later_ids)
model_names: Final = View("name of the model in a reply", Side.PROVIDER, _models)
