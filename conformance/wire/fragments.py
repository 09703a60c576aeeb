"""Objects that a stream brings in pieces: items of `reasoning_details`, content parts."""

from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.facts import Note, describe

_JOINED_KEYS: Final = frozenset({"summary", "text"})


class Details:
    """The items of `reasoning_details`, as OpenRouter streams them.

    The pieces of one item share its index and type: pieces of text, then one with the signature and no text. What is
    encrypted comes whole, so a second `data` begins another item, and so does another id.
    """

    __slots__ = ("_items", "_last_of", "_note")

    def __init__(self, note: Note) -> None:
        self._note = note
        self._items: list[Pieces] = []
        self._last_of: dict[tuple[int | None, str], Pieces] = {}

    def add(self, pieces: list[Any], place: Place) -> None:
        """Add the pieces of one delta, which stand at `place`."""
        for position, piece in enumerate(pieces):
            if type(piece) is not dict:
                self._note("not-an-object", (*place, position), f"got {describe(piece)}")
                continue
            index, kind = piece.get("index"), piece.get("type")
            if type(index) is not int or type(kind) is not str:
                index, kind = self._odd_key(piece, (*place, position))
            item = self._last_of.get((index, kind))
            if item is None or (("data" in piece or "id" in piece) and _is_other(item.fields, piece)):
                self._begin(index, kind, piece, (*place, position))
            else:
                item.add(piece)

    def render(self) -> list[dict[str, Any]]:
        """Return the items in the order in which they began."""
        return [item.render() for item in self._items]

    def _odd_key(self, piece: dict[str, Any], at: Place) -> tuple[int | None, str]:
        index, kind = piece.get("index"), piece.get("type")
        if type(index) is not int:
            self._note("detail-index-missing", at, "absent" if "index" not in piece else f"got {describe(index)}")
            index = None
        return index, kind if type(kind) is str else describe(kind)

    def _begin(self, index: int | None, kind: str, piece: dict[str, Any], at: Place) -> None:
        if (index, kind) in self._last_of:
            self._note("detail-index-reused", at, f"index {index}, type {kind}")
        item = self._last_of[index, kind] = Pieces(piece)
        self._items.append(item)


class Pieces:
    """An object that comes in pieces: texts are joined, lists go on, of other keys the last value stands."""

    __slots__ = ("_lists", "_texts", "fields")

    def __init__(self, piece: dict[str, Any]) -> None:
        self.fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {}
        self.add(piece)

    def add(self, piece: dict[str, Any]) -> None:
        """Add a piece."""
        fields, texts = self.fields, self._texts
        for key, value in piece.items():
            if key in texts and type(value) is str:
                texts[key].append(value)
            elif key not in fields or fields[key] != value:
                self._set(key, value)

    def render(self) -> dict[str, Any]:
        """Return the whole object."""
        texts = {key: "".join(texts) for key, texts in self._texts.items()}
        lists = {key: [_render(value) for value in values] for key, values in self._lists.items()}
        return self.fields | texts | lists

    def _set(self, key: str, value: Any) -> None:
        if type(value) is str and key in _JOINED_KEYS:
            self._texts[key] = [value]
            self.fields[key] = ""
        elif type(value) is list:
            self._add_list(self._lists.setdefault(key, []), value)
            self.fields.setdefault(key, None)
        elif value is not None or key not in self.fields:
            self.fields[key] = value

    def _add_list(self, kept: list[Any], values: list[Any]) -> None:
        """Go on with a list: a text in it goes on with the last one where both have one type."""
        for value in values:
            last = kept[-1] if kept else None
            if type(value) is not dict or "text" not in value:
                kept.append(value)
            elif type(last) is Pieces and last.fields.get("type") == value.get("type"):
                last.add(value)
            else:
                kept.append(Pieces(value))


def _is_other(item: dict[str, Any], piece: dict[str, Any]) -> bool:
    """Say whether a piece cannot belong to an item though it has its index and type."""
    if item.get("data") and piece.get("data"):
        return True
    return bool(item.get("id") and piece.get("id") and item["id"] != piece["id"])


def _render(value: Any) -> Any:
    return value.render() if type(value) is Pieces else value
