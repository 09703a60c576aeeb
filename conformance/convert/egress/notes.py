"""What egress gives: the messages, the ids under which calls are sent, and a note of every departure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place, render

_BORNE: Final = ("accepted", "ignored")


class Note(NamedTuple):
    """A departure from the transcript, or one that the provider asks for and that cannot be made.

    `pointer` leads into the transcript. `claim` names the claim behind it; it is empty where the canonical wire alone
    asks for it. `fixed` is false where what the provider will not take had to stay.
    """

    pointer: str
    reason: str
    claim: str = ""
    fixed: bool = True

    def __str__(self) -> str:
        """Return the note in one line."""
        stayed = "" if self.fixed else "cannot be fixed: "
        return f"{self.pointer or '/'}: {stayed}{self.reason}" + (f" ({self.claim})" if self.claim else "")


class Identity(NamedTuple):
    """The id of one call: the call's place in the transcript, the id that it has there, the one that is sent.

    Ids may come twice, places do not: a caller that maps back goes by the place.
    """

    message: int
    call: int
    own: str
    sent: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """The messages of a request, as fresh values; the ids of all calls in their order; what was changed, and why.

    `origins` are the positions in the transcript that the messages come from: of messages that were merged that of the
    first, of a result that was put in that of its call.
    """

    messages: list[dict[str, Any]]
    origins: tuple[int, ...] = ()
    ids: tuple[Identity, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def unfixed(self) -> tuple[Note, ...]:
        """Return the notes of what the provider is known not to take and that had to stay."""
        return tuple([note for note in self.notes if not note.fixed])


class Draft(NamedTuple):
    """A message on its way out, to be changed in place, and the position in the transcript that it comes from."""

    message: dict[str, Any]
    origin: int

    @property
    def role(self) -> str:
        """Return who speaks."""
        return str(self.message["role"])

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Return the tool calls; none is an empty list."""
        return self.message.get("tool_calls") or []


class Turn(NamedTuple):
    """An assistant message with calls, and one result for each of them, in the calls' order."""

    draft: Draft
    results: Sequence[Draft]


class Demands:
    """What a provider demands of a request, by its claims; collects the notes of how that was met."""

    __slots__ = ("_notes", "claims")

    def __init__(self, claims: Mapping[str, Any]) -> None:
        self.claims = claims
        self._notes: list[Note] = []

    def bites(self, name: str) -> bool:
        """Say whether a deviation is known to be refused or to do damage."""
        verdict = self.claims.get(name)
        return verdict == "damaged" or isinstance(verdict, Mapping)

    def bears(self, name: str) -> bool:
        """Say whether a deviation is known to be borne."""
        return self.claims.get(name) in _BORNE

    def limit(self, name: str, key: str) -> Any:
        """Return the bound or pattern of a claim that has one; None where it is not known or not kept up."""
        claim = self.claims.get(name)
        return claim[key] if isinstance(claim, Mapping) and claim["refusal"] not in _BORNE else None

    def note(self, place: Place, reason: str, claim: str = "", *, fixed: bool = True) -> None:
        """Note a departure at a place of the transcript."""
        self._notes.append(Note(render(place), reason, claim, fixed))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return the notes in the order of the messages that they are about."""
        return tuple(sorted(self._notes, key=lambda note: int(note.pointer.split("/")[1]) if note.pointer else -1))
