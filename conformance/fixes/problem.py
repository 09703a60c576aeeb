"""A finding to fix, the conversation that it is in, and another form of its request that may be without it."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from conformance.documents.pointer import Place, copied, parse
from conformance.profiles import Profile
from conformance.results import Finding
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

_T = TypeVar("_T")


class Candidate(NamedTuple):
    """Another form of a request, in its own wire.

    `origin`: a pointer to the value in the conversation that it brings back; empty if it needs none. `spared`: the
    kinds of content that may be missing in it (see `content.loss`). `title`: what it does, in a word or two. `whole`:
    whether it is one step, of which no part makes sense alone, such as a new name for a parameter. `retold`: a text
    that the client made of a reply, which comes back itself.
    """

    request: Any
    title: str
    origin: str = ""
    spared: frozenset[str] = frozenset()
    whole: bool = False
    retold: str = ""


class ClientProblem:
    """A finding about a request, with all that a fix may need to know.

    `conversation`: the exchanges up to that of the request, as they were received; `translated`: as those of chat
    completions. `number`: that of the exchange.
    """

    def __init__(
        self,
        conversation: Conversation,
        rule: str,
        finding: Finding,
        profile: Profile | None,
        as_of: str,
        translated: Conversation,
    ) -> None:
        self.conversation = conversation
        self.translated = translated
        self.number = len(conversation) - 1
        self.rule = rule
        self.finding = finding
        self.profile = profile
        self.as_of = as_of
        self._known: dict[Any, Any] = {}

    def about(self, rule: str, finding: Finding) -> "ClientProblem":
        """Return another finding about the same request; what is known of the conversation is shared."""
        made = copy(self)
        made.rule, made.finding = rule, finding
        made.__dict__.pop("place", None)
        return made

    def once(self, find: Callable[["ClientProblem"], _T]) -> _T:
        """Return what a function finds in the request, whatever the finding; it is asked once for all findings."""
        if find not in self._known:
            self._known[find] = find(self)
        found: _T = self._known[find]
        return found

    @property
    def request(self) -> Any:
        """Return the body that was sent."""
        return self.conversation[-1].request

    def editable(self) -> Any:
        """Return the request as one in which what is around the place of the finding may be changed.

        All other messages and tools are the same objects, of which is known what they say.
        """
        request, place = self.request, self.place
        if type(request) is not dict or not place or place[0] not in request:
            return copied(request)
        key, *inside = place
        member = request[key]
        if type(member) is list and inside and type(inside[0]) is int and inside[0] < len(member):
            changed = [*member]
            changed[inside[0]] = copied(member[inside[0]])
            return {**request, key: changed}
        return {**request, key: copied(member)}

    @cached_property
    def place(self) -> Place:
        """Return the place of the finding in that body; a position in a list is a number."""
        return positions(self.request, parse(self.finding.at)[2:])

    @property
    def exchange(self) -> Exchange:
        """Return the exchange as one of chat completions."""
        return self.translated[-1]

    @cached_property
    def index(self) -> Index:
        """Return the elements of the conversation."""
        return Index(self.translated)

    @property
    def claims(self) -> Mapping[str, Any]:
        """Return the claims that hold for the request."""
        if self.profile is None:
            return {}
        return self.profile.on(self.exchange.protocol).at(self.exchange.model, self.day)

    @property
    def contested(self) -> Mapping[str, Any]:
        """Return what other sources call refused."""
        if self.profile is None:
            return {}
        return self.profile.on(self.exchange.protocol).contested(self.exchange.model, self.day)

    @property
    def day(self) -> str:
        """Return the day whose claims hold; empty for the last on which the sources were read."""
        return self.as_of or self.exchange.date


def with_request(exchange: Exchange, request: Any) -> Exchange:
    """Return an exchange that was received with another request; nothing is normalised again."""
    return Exchange.of_plain(
        request,
        exchange.response,
        exchange.status,
        exchange.streamed,
        exchange.headers,
        exchange.url,
        exchange.model,
        exchange.date,
    )


def positions(value: Any, tokens: tuple[str, ...]) -> Place:
    """Return the place that the tokens of a pointer lead to, as far as there is a value."""
    place: list[str | int] = []
    for token in tokens:
        key: str | int = int(token) if isinstance(value, list) and token.isdecimal() else token
        try:
            value = value[key]
        except (LookupError, TypeError):
            return (*place, key)
        place.append(key)
    return tuple(place)
