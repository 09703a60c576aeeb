"""Examples of facts about gateways: sessions of which both ends were seen, each as an edit of one that loses nothing.

`fixtures/gateways/<base>.json` holds a list of exchanges: `front` is that of the client, `backs` are those with the
provider that it led to, each in the form of `formats/records.py`; `seen` is what was seen besides the bodies.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from conformance.documents import read_json
from conformance.documents.pointer import differences, edit
from conformance.fidelity.passages import Pair
from conformance.formats.records import exchange
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from conformance.wires import translate

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class GatewayExample(NamedTuple):
    """A session as an edit of a valid one: the name of its base, and new values by pointer."""

    base: str
    edits: Mapping[str, Any] = _NOTHING

    @property
    def path(self) -> Path:
        """Return the file of the base."""
        return folder("fixtures") / "gateways" / f"{self.base}.json"

    def session(self) -> tuple[Pair, ...]:
        """Return the edited session."""
        return tuple(
            [
                Pair(
                    number,
                    self._read(each["front"]),
                    tuple(map(self._read, each.get("backs", ()))),
                    each.get("seen", {}),
                )
                for number, each in enumerate(edit(read_json(self.path), self.edits))
            ]
        )

    def difference(self) -> Iterator[tuple[str, str, Any]]:
        """Return what the edits remove from the base (`-`) and what they add (`+`), each with its pointer."""
        return differences(read_json(self.path), self.edits)

    def _read(self, record: Mapping[str, Any]) -> Exchange:
        return translate((exchange(record, str(self.path)),))[0]


def example(base: str, edits: Mapping[str, Any] = _NOTHING) -> GatewayExample:
    """Return an example: the name of a base, and the edits by pointer."""
    return GatewayExample(base, edits)
