"""What a model can hold of a transcript, found by writing each piece and reading it back."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.losses import Losses


class Codec(NamedTuple):
    """How one kind of part is written for a model and read back; a part that cannot be written gives the reason."""

    write: Callable[[dict[str, Any]], dict[str, Any] | str]
    read: Callable[[dict[str, Any]], Any]
    reason: str

    def written_or_kept(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a part as the other side has it; one that has no counterpart keeps its own form."""
        written = self.write(dict(given))
        return dict(given) if isinstance(written, str) else written

    def convert(self, given: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any] | None:
        """Return a part as the model holds it, or None; whatever does not come back is noted as a loss."""
        written = self.write(given)
        if isinstance(written, str):
            losses.add(place, written)
            return None
        back = self.read(written)
        for at in _changed(given, back if isinstance(back, dict) else {}, place):
            losses.add(at, self.reason)
        return written


def _changed(given: dict[str, Any], back: dict[str, Any], place: Place) -> Iterator[Place]:
    """Yield the place of each key whose value does not come back; null means absent, and an index does not count."""
    for key, value in given.items():
        other = back.get(key)
        if value is None or value == other or key == "index":
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            yield from _changed(value, other, (*place, key))
        else:
            yield (*place, key)
