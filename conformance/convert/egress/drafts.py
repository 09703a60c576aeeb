"""What egress works on, the messages on their way out, and what it returns, with a note of every difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.documents.pointer import Place, parse, render
from conformance.profiles import rejects_or_damages, tolerates


class Note(NamedTuple):
    """A difference from the transcript, or one that the provider requires and that cannot be made.

    `pointer` points into the transcript. `claim` is the claim behind it; it is empty if only the canonical wire
    requires it. `fixed` is false if something that the provider is known to reject had to stay.
    """

    pointer: str
    reason: str
    claim: str = ""
    fixed: bool = True

    def __str__(self) -> str:
        """Return the note in one line."""
        prefix = "" if self.fixed else "cannot be fixed: "
        return f"{self.pointer or '/'}: {prefix}{self.reason}" + (f" ({self.claim})" if self.claim else "")


class Identity(NamedTuple):
    """The id of one call: the position of its message, its own position there, its id there, and the id that is sent.

    Ids may repeat, positions do not: to map ids back, use the positions.
    """

    message: int
    call: int
    own: str
    sent: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """The messages of a request, as new values; the ids of all calls in order; what was changed, and why.

    `origins` are the positions of the messages in the transcript: of merged messages that of the first, of an added
    result that of its call.
    """

    messages: list[dict[str, Any]]
    origins: tuple[int, ...] = ()
    ids: tuple[Identity, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def unfixed(self) -> tuple[Note, ...]:
        """Return the notes of what the provider is known to reject and that had to stay."""
        return tuple([note for note in self.notes if not note.fixed])


class Outbound(NamedTuple):
    """A message on its way out, which is changed in place, and its position in the transcript."""

    message: dict[str, Any]
    origin: int

    @property
    def role(self) -> str:
        """Return the role of the message."""
        return str(self.message["role"])

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Return the tool calls, or an empty list."""
        return self.message.get("tool_calls") or []


class Turn(NamedTuple):
    """An assistant message with calls, and one result for each of them, in the order of the calls."""

    draft: Outbound
    results: Sequence[Outbound]


class Demands:
    """What a provider requires of a request, by its claims; collects the notes of how that is met.

    `contested`: what the claims do not call refused, and another source does. `has_calls`: whether any message of the
    transcript has tool calls.
    """

    __slots__ = ("_notes", "claims", "contested", "has_calls")

    def __init__(self, claims: Mapping[str, Any], contested: Mapping[str, Any], *, has_calls: bool) -> None:
        self.claims = claims
        self.contested = contested
        self.has_calls = has_calls
        self._notes: list[Note] = []

    def rejects_or_damages(self, name: str) -> bool:
        """Return whether the provider is known to reject a deviation, or to corrupt its reply because of it."""
        return rejects_or_damages(self.claims.get(name))

    def avoids(self, name: str) -> bool:
        """Return whether any source says that the provider rejects a deviation, or corrupts its reply because of it."""
        return name in self.contested or self.rejects_or_damages(name)

    def tolerates(self, name: str) -> bool:
        """Return whether the provider is known to tolerate a deviation, and no source says otherwise."""
        return name not in self.contested and tolerates(self.claims.get(name))

    def limit(self, name: str, key: str) -> Any:
        """Return the limit or pattern of a claim; None if there is none, or the provider does not enforce it."""
        claim = self.claims.get(name)
        return claim[key] if isinstance(claim, Mapping) and not tolerates(claim["refusal"]) else None

    def note(self, place: Place, reason: str, claim: str = "", *, fixed: bool = True) -> None:
        """Note a difference at a place of the transcript."""
        self._notes.append(Note(render(place), reason, claim, fixed))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return the notes in the order of their messages."""
        return tuple(sorted(self._notes, key=lambda note: int(parse(note.pointer)[0]) if note.pointer else -1))
