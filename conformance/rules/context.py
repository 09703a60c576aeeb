"""What a rule may ask while it checks an element: the provider's claims, the conversation, the schema errors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from conformance import profiles
from conformance.documents.pointer import Place
from conformance.profiles import UNKNOWN
from conformance.results import Harm, Level
from conformance.rules.schema_claims import claim_and_values
from conformance.schemas import SchemaError
from conformance.wire.definitions import Definitions, definitions
from conformance.wire.elements import Call, Reply, Result, ToolTurn, Usage
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.keys import key_of
from conformance.wire.parts import SentIds
from conformance.wire.sent import SentElements

T = TypeVar("T")

ClaimOf: TypeAlias = Callable[[str], "profiles.Claim | None"]

_NO_VALUES: Final[Mapping[str, Any]] = MappingProxyType({})


def no_claim(_name: str) -> None:
    """Return None, the claim of any name where there is no profile."""


class Fault(NamedTuple):
    """What a rule found wrong with an element.

    `message` says "expected …, got …". `at` continues the element's place, `place` replaces it. `values` fill the
    placeholders of the provider's refusal. `claim` names the claim about this fault, if it is not the rule's own;
    `verdict` is what the provider does, if it is part of a claim's value. `level` replaces the rule's own. `is_loss`:
    content was lost or changed, which stays as severe at a provider that accepts the request. `handling` is what the
    provider does with the request, if `claim` is about the consequences. `known` names the claim that describes what a
    provider does, so that it is not news. `harm` replaces the rule's own, `side` that of the rule's view.
    """

    message: str
    at: Place = ()
    place: Place | None = None
    values: Mapping[str, Any] = _NO_VALUES
    claim: str | None = None
    verdict: Any = None
    level: Level | None = None
    is_loss: bool = False
    handling: Any = None
    known: str = ""
    harm: Harm | None = None
    side: str = ""


class Known(NamedTuple):
    """What follows from the claims alone, so that it is found once for all exchanges with the same claims.

    `derived`: what rules derive, by how they do it. `answers`: what the provider does about faults, by their claim.
    """

    derived: dict[Any, Any]
    answers: dict[Any, Any]


class SchemaFaults(NamedTuple):
    """The schema errors of one conversation.

    `shapes`: by the place of the innermost element with a rule about its shape. `unknown`: errors about keys that the
    canonical wire does not have, by the place of the message.
    """

    shapes: Mapping[Place, list[SchemaError]]
    unknown: Mapping[Place, list[SchemaError]]


class Claimed:
    """What a profile claims for one model on one day; empty without a profile."""

    __slots__ = ("claims",)

    def __init__(self, claims: Mapping[str, Any]) -> None:
        self.claims = claims

    def claim(self, name: str, default: Any = None) -> Any:
        """Return the value of a claim, or the default if there is no claim or its value is unknown."""
        value = self.claims.get(name, UNKNOWN)
        return default if value == UNKNOWN else value

    def knows(self, *names: str) -> bool:
        """Return whether each of these claims has a value."""
        # Most rules need none, and each is asked whenever a plan is made.
        return not names or UNKNOWN not in [self.claims.get(name, UNKNOWN) for name in names]

    def claims_any(self, name: str, *words: str) -> bool:
        """Return whether a claim that is a word or a list of words names one of these."""
        return not set(words).isdisjoint(as_words(self.claim(name)))

    def rejects_or_damages(self, name: str) -> bool:
        """Return whether the provider is known to reject the deviation that a claim is about, or to damage a reply."""
        verdict = self.claims.get(name)
        # Most claims are a word, and this is asked for each of them whenever a plan is made.
        if verdict is None or type(verdict) is str:
            return verdict == "damaged"
        # Claims about a maximum or a pattern have the verdict beside it.
        return profiles.rejects_or_damages(verdict.get("refusal", verdict) if isinstance(verdict, Mapping) else verdict)

    def first_rejecting(self, *names: str) -> str | None:
        """Return the first claim that has a value if that is a rejection or damage, else None."""
        known = next((name for name in names if self.knows(name)), None)
        return known if known is not None and self.rejects_or_damages(known) else None


class Claimant(NamedTuple):
    """Who makes the claims about an exchange, and what else its sources say.

    `provider`: the name of the profile; empty without one. `contested`: the refusals that other sources give of what
    the claims do not call refused. `claim_of` returns a claim with its sources; None if there is none of that name.
    """

    provider: str = ""
    contested: Mapping[str, Any] = _NO_VALUES
    claim_of: ClaimOf = no_claim


class Context(Claimed):
    """The surroundings of the elements of one exchange, with the claims that hold for its model and date.

    `number`: that of the exchange, `part` its elements. `provider`, `contested`, `claim_of`: those of the `Claimant`.
    """

    __slots__ = (
        "_declared", "_derived", "_piece", "_thinks", "answers", "claim_of", "contested", "exchange", "index",
        "number", "part", "provider", "schema",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        index: Index,
        claims: Mapping[str, Any],
        schema: SchemaFaults,
        known: "Known",
        claimant: Claimant = Claimant(),  # noqa: B008 — it cannot change
        piece: SentElements | None = None,
    ) -> None:
        self.claims = claims
        self.provider, self.contested, self.claim_of = claimant
        self.exchange: Exchange = index.conversation[number]
        self.index = index
        self.part = index.parts[number]
        self.schema = schema
        self.number = number
        self._piece = piece
        self._derived, self.answers = known
        self._thinks: Any = ...
        self._declared: Definitions | None = None

    def within(self, piece: SentElements) -> "Context":
        """Return the same surroundings for a rule that reads the messages of a request piece by piece."""
        claimant, known = Claimant(self.provider, self.contested, self.claim_of), Known(self._derived, self.answers)
        made = Context(self.number, self.index, self.claims, self.schema, known, claimant, piece)
        made._thinks = self._thinks
        return made

    def with_claims(self, claims: Mapping[str, Any]) -> "Context":
        """Return the same surroundings at another provider: what it claims, and nothing that followed from others."""
        return Context(self.number, self.index, claims, self.schema, Known({}, {}))

    def derived(self, derive: Callable[[Claimed], T]) -> T:
        """Return what rules derive from the claims alone; they do so once for all exchanges with the same claims.

        If the claims record who reads them, each rule derives it for itself.
        """
        if type(self.claims) is not dict:
            return derive(self)
        known = self._derived
        found: T = known[derive] if derive in known else known.setdefault(derive, derive(self))
        return found

    @property
    def assistants(self) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return the assistant messages in the request of this exchange, each with its position."""
        return self.part.assistants if self._piece is None else self._piece.assistants

    @property
    def turns(self) -> Sequence[ToolTurn]:
        """Return the assistant messages with tool calls in the request of this exchange."""
        return (self._piece or self.part.whole).turns

    @property
    def results(self) -> Sequence[Result]:
        """Return the tool messages in the request of this exchange."""
        return (self._piece or self.part.whole).results

    def messages(self, *roles: str) -> list[tuple[int, dict[str, Any]]]:
        """Return the messages of the request, each with its position; only those of certain roles if given."""
        found = (self._piece or self.part.whole).messages
        return [(at, each) for at, each in found if not roles or each.get("role") in roles]

    @property
    def has_turns(self) -> bool:
        """Return whether the whole request has messages with tool calls."""
        return self.part.has_turns

    @property
    def replies(self) -> Sequence[Reply]:
        """Return the replies of this exchange, one for each choice."""
        return self.part.replies

    @property
    def usages(self) -> Sequence[Usage]:
        """Return the usage objects of this exchange."""
        return self.part.usages

    @property
    def sent_ids(self) -> SentIds:
        """Return the ids of the calls in the whole request."""
        return self.part.ids[-1]

    @property
    def declared(self) -> Definitions:
        """Return the functions that the request of this exchange declares."""
        if self._declared is None:
            self._declared = definitions(self.exchange.request)
        return self._declared

    def definition(self, call: Call) -> dict[str, Any] | None:
        """Return the definition of the function that a call of the reply names; None if the request has none."""
        return self.declared.functions.get(key_of(call.name))

    def shape_faults(self, place: Place) -> list[Fault]:
        """Return the schema errors of the element at a place as faults, each with the claim that covers it.

        Most providers take null for an optional parameter as its absence, so that it is at most a SHOULD.
        """
        faults = []
        for error in self.shape_errors(place):
            claim: str | None = None
            values: Mapping[str, Any] = {}
            if error.place[1] == "request":
                claim, values = claim_and_values(error, self.exchange.request)
            if claim == "request.unknown-part-type" and values["kind"] in self.claim("request.known-part-types", ()):
                continue
            level = Level.SHOULD if claim == "request.null-parameters" else None
            faults.append(Fault(error.message, place=error.place, values=values, claim=claim, level=level))
        return faults

    def shape_errors(self, place: Place) -> Sequence[SchemaError]:
        """Return the schema errors of the element at a place."""
        return self.schema.shapes.get(place, ())

    def unknown_keys(self, place: Place) -> Iterator[tuple[Place, str]]:
        """Yield the keys of the message at a place that the canonical wire does not have, each with its object."""
        for error in self.schema.unknown.get(place, ()):
            yield from [(error.place, key) for key in error.extra]

    @property
    def thinks(self) -> bool | None:
        """Return whether the model thinks in this exchange, by the claims and the request's switches; None: unknown."""
        # None is an answer here (unknown), so the ellipsis stands for not asked yet.
        if self._thinks is ...:
            native = self.exchange.native
            # Claims name the switches of the wire that they are about.
            body = self.exchange.request if native is None else native.request
            self._thinks = profiles.thinks(self.claims, body) if type(body) is dict and self.claims else None
        result: bool | None = self._thinks
        return result


def as_words(value: Any) -> tuple[str, ...]:
    """Return a claim that is a word or a list of words as a tuple; empty if there is none."""
    # `type(x) is`, not isinstance: claims are plain JSON, without subclasses, and True must not pass as an int.
    if type(value) is str:
        return (value,)
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def is_refusal(verdict: Any) -> bool:
    """Return whether the provider is known to answer a deviation with an error."""
    return isinstance(verdict, Mapping)


def messages(body: Mapping[str, Any], *roles: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the messages of a request body, each with its position; only those of certain roles if given."""
    listed = body.get("messages")
    if type(listed) is not list:
        return []
    return [
        (position, message)
        for position, message in enumerate(listed)
        if type(message) is dict and (not roles or message.get("role") in roles)
    ]
