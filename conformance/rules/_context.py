"""What a judge may ask beside the part before it: the claims on its exchange, and what the schemas found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance import profiles
from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules._shapes import described
from conformance.schemas import SchemaError
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Fault:
    """What a judge found wrong with a part.

    `message` says "expected …, got …". `at` leads on from the part's place, `place` replaces it. `values` fill the
    placeholders of a claimed refusal. `claim` names the claim that says what the provider does about this fault,
    where the rule has more than one; `verdict` is what it says, where it stands inside a claim's value. `level`
    stands in for the rule's own.
    """

    message: str
    at: Place = ()
    place: Place | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    claim: str | None = None
    verdict: Any = None
    level: Level | None = None


class SchemaFaults(NamedTuple):
    """What the canonical schemas say of one conversation.

    `shapes`: errors by the place of the part that answers for them, the deepest around each.
    `unknown`: errors about keys that the canonical wire does not have, by the place of the message that holds them.
    """

    shapes: Mapping[Place, list[SchemaError]]
    unknown: Mapping[Place, list[SchemaError]]


class Context:
    """The surroundings of the parts of one exchange.

    `claims` are those of the profile for the exchange's own model and date; empty without a profile.
    """

    __slots__ = ("_thinks", "claims", "exchange", "index", "schema")

    def __init__(self, exchange: Exchange, index: Index, claims: Mapping[str, Any], schema: SchemaFaults) -> None:
        self.exchange = exchange
        self.index = index
        self.claims = claims
        self.schema = schema
        self._thinks: Any = ...

    def shape_faults(self, place: Place) -> list[Fault]:
        """Return what the schemas find wrong with the part at a place, with the claims that speak of it."""
        faults = []
        for error in self.schema.shapes.get(place, ()):
            claim, values = described(error, self.exchange.request) if error.place[1] == "request" else (None, {})
            if claim == "request.unknown-part-type" and values["kind"] in self.claim("request.known-part-types", ()):
                continue
            faults.append(Fault(error.message, place=error.place, values=values, claim=claim))
        return faults

    def unknown_keys(self, place: Place) -> list[tuple[Place, str]]:
        """Return the keys that the message at a place has and the canonical wire has not, each with its holder."""
        return [(error.place, key) for error in self.schema.unknown.get(place, ()) for key in error.extra]

    def claim(self, name: str, default: Any = None) -> Any:
        """Return what the profile claims, or the default where it claims nothing or nothing was found."""
        value = self.claims.get(name, UNKNOWN)
        return default if value == UNKNOWN else value

    def knows(self, names: tuple[str, ...]) -> bool:
        """Say whether each of these claims has a value."""
        claims = self.claims
        return all(claims.get(name, UNKNOWN) != UNKNOWN for name in names)

    def says(self, name: str, *words: str) -> bool:
        """Say whether a claim that is one word or a list of them names one of these."""
        return not set(words).isdisjoint(listed(self.claim(name)))

    def bites(self, name: str) -> bool:
        """Say whether a deviation is claimed to be refused or to do damage."""
        return bites(self.claims.get(name))

    @property
    def thinks(self) -> bool | None:
        """Say whether the model thinks in this exchange, by its claims and the request's switches; None: unknown."""
        if self._thinks is ...:
            body = self.exchange.request
            self._thinks = profiles.thinks(self.claims, body) if type(body) is dict and self.claims else None
        result: bool | None = self._thinks
        return result


def listed(claimed: Any) -> tuple[str, ...]:
    """Return a claim that is one word or a list of them as a tuple; empty where there is none."""
    if type(claimed) is str:
        return (claimed,)
    return tuple(claimed) if isinstance(claimed, (list, tuple)) else ()


def bites(verdict: Any) -> bool:
    """Say whether a deviation is known to be refused or to do damage."""
    return verdict == "damaged" or isinstance(verdict, Mapping)


def refuses(verdict: Any) -> bool:
    """Say whether a deviation is known to be refused."""
    return isinstance(verdict, Mapping)
