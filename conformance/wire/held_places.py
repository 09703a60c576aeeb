"""Where the parts of a translated exchange come from, with the messages that an earlier request of its session had."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import Place

_MESSAGES: Final = ("request", "messages")


class HeldPlaces(Mapping[Place, Place]):
    """The native places of an exchange, and of the first `end` messages those that an earlier exchange has.

    They are looked up there: a table of its own for each request would make a long session as large as its square.
    """

    __slots__ = ("earlier", "end", "own")

    def __init__(self, own: Mapping[Place, Place], earlier: Mapping[Place, Place], end: int) -> None:
        """Look up what is not among its `own` places in those of the earlier exchange."""
        self.own, self.earlier, self.end = own, earlier, end

    def __getitem__(self, place: Place) -> Place:
        # A loop, because a session may have more requests than Python allows a recursion to be deep.
        at: Mapping[Place, Place] = self
        while isinstance(at, HeldPlaces):
            if place in at.own:
                return at.own[place]
            if not at.holds(place):
                raise KeyError(place)
            at = at.earlier
        return at[place]

    def holds(self, place: Place) -> bool:
        """Return whether a place is in a message that the earlier exchange has."""
        return place[:2] == _MESSAGES and len(place) > len(_MESSAGES) and int(place[2]) < self.end

    def _whole(self) -> dict[Place, Place]:
        parts: list[HeldPlaces] = []
        at: Mapping[Place, Place] = self
        while isinstance(at, HeldPlaces):
            parts.append(at)
            at = at.earlier
        whole = dict(at)
        for part in reversed(parts):
            whole = {place: native for place, native in whole.items() if part.holds(place)} | dict(part.own)
        return whole

    def __iter__(self) -> Iterator[Place]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def __reduce__(self) -> Any:
        # Whole, because a chain as long as a session is too deep to be copied.
        return dict, (self._whole(),)

    def __repr__(self) -> str:
        return repr(self._whole())
