"""Objects that a stream delivers in fragments: items of `reasoning_details`, content parts."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.anomalies import NoteAnomaly, describe
from conformance.wire.patterns import Piece

_JOINED_KEYS: Final = frozenset({"summary", "text"})
_JOINED_WHEN_MERGED: Final = frozenset({"arguments", "data", "transcript"})


class Details:
    """The items of `reasoning_details`, as OpenRouter streams them.

    The fragments of one item share its index and type: fragments of text, then one with the signature and no text.
    Encrypted data are not split, so a second `data` begins another item, and so does another id.
    """

    __slots__ = ("_items", "_last_of", "_note")

    def __init__(self, note: NoteAnomaly) -> None:
        self._note = note
        self._items: list[PartialObject] = []
        self._last_of: dict[tuple[int | None, str], PartialObject] = {}

    def add(self, fragments: list[Any], place: Place) -> None:
        """Add the fragments of one delta; `place` is that of their list."""
        for position, fragment in enumerate(fragments):
            if type(fragment) is not dict:
                self._note("not-an-object", (*place, position), f"got {describe(fragment)}")
                continue
            index, kind = fragment.get("index"), fragment.get("type")
            if type(index) is not int or type(kind) is not str:
                index, kind = self._irregular_key(fragment, (*place, position))
            item = self._last_of.get((index, kind))
            if item is None or (("data" in fragment or "id" in fragment) and _is_other(item.fields, fragment)):
                self._begin(index, kind, fragment, (*place, position))
            else:
                item.add(fragment)

    def continued(self, fragment: Any, place: Place) -> Sequence[Piece | None]:
        """Return the texts of a fragment that was added; with None if it does more than continue them."""
        index, kind = (fragment.get("index"), fragment.get("type")) if type(fragment) is dict else (None, None)
        if type(index) is not int or type(kind) is not str:
            return (None,)
        item = self._last_of.get((index, kind))
        return (None,) if item is None or _is_other(item.fields, fragment) else item.continued(fragment, place)

    def render(self) -> list[dict[str, Any]]:
        """Return the items, in the order in which they began."""
        return [item.render() for item in self._items]

    def runs(self) -> Iterator[list[str]]:
        """Yield the fragments of each text of the items."""
        for item in self._items:
            yield from item.runs()

    def _irregular_key(self, fragment: dict[str, Any], at: Place) -> tuple[int | None, str]:
        index, kind = fragment.get("index"), fragment.get("type")
        if type(index) is not int:
            self._note("detail-index-missing", at, "absent" if "index" not in fragment else f"got {describe(index)}")
            index = None
        return index, kind if type(kind) is str else describe(kind)

    def _begin(self, index: int | None, kind: str, fragment: dict[str, Any], at: Place) -> None:
        if (index, kind) in self._last_of:
            self._note("detail-index-reused", at, f"index {index}, type {kind}")
        item = self._last_of[index, kind] = PartialObject(fragment)
        self._items.append(item)


class PartialObject:
    """An object that arrives in fragments: texts are joined, lists are continued, other keys keep the last value."""

    __slots__ = ("_lists", "_texts", "fields")

    def __init__(self, fragment: dict[str, Any]) -> None:
        self.fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {}
        self.add(fragment)

    def add(self, fragment: dict[str, Any]) -> None:
        """Add a fragment."""
        fields, texts = self.fields, self._texts
        for key, value in fragment.items():
            if key in texts and type(value) is str:
                texts[key].append(value)
            elif key not in fields or fields[key] != value:
                self._set(key, value)

    def continued(self, fragment: dict[str, Any], place: Place) -> Sequence[Piece | None]:
        """Return the texts of a fragment that was added; with None if it does more than continue them."""
        found: list[Piece | None] = []
        for key, value in fragment.items():
            if key in self._texts and type(value) is str:
                found += [Piece((*place, key), self._texts[key], value)] if value else []
            elif type(value) is list:
                last = self._lists[key][-1] if len(value) == 1 and self._lists.get(key) else None
                if type(last) is not PartialObject or not _continues(last, value[0]):
                    return (None,)
                found += last.continued(value[0], (*place, key, 0))
            elif key not in self.fields or self.fields[key] != value:
                return (None,)
        return found

    def render(self) -> dict[str, Any]:
        """Return the whole object."""
        texts = {key: "".join(texts) for key, texts in self._texts.items()}
        lists = {key: [rendered(value) for value in values] for key, values in self._lists.items()}
        return self.fields | texts | lists

    def runs(self) -> Iterator[list[str]]:
        """Yield the fragments of each text of the object."""
        yield from self._texts.values()
        for values in self._lists.values():
            for value in values:
                if type(value) is PartialObject:
                    yield from value.runs()

    def _set(self, key: str, value: Any) -> None:
        if type(value) is str and key in _JOINED_KEYS:
            self._texts[key] = [value]
            # It holds its place among the keys until the whole text is put there.
            self.fields[key] = ""
        elif type(value) is list:
            self._add_list(self._lists.setdefault(key, []), value)
            self.fields.setdefault(key, None)
        elif value is not None or key not in self.fields:
            self.fields[key] = value

    def _add_list(self, items: list[Any], values: list[Any]) -> None:
        """Continue a list: an item with text continues the last item if both have the same type."""
        for value in values:
            last = items[-1] if items else None
            if type(value) is not dict or "text" not in value:
                items.append(value)
            elif type(last) is PartialObject and _continues(last, value):
                last.add(value)
            else:
                items.append(PartialObject(value))


class MergedObject:
    """Objects under one key of several deltas, merged: some texts are joined, other keys keep the last value."""

    __slots__ = ("_fields", "_texts")

    def __init__(self, first: dict[str, Any], second: dict[str, Any]) -> None:
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self.add(first)
        self.add(second)

    def add(self, value: dict[str, Any]) -> None:
        """Add an object."""
        for key, each in value.items():
            if key in self._texts and type(each) is str:
                self._texts[key].append(each)
                continue
            # A value that is no text ends the text before it, and the last value counts.
            self._texts.pop(key, None)
            self._fields[key] = each
            if key in _JOINED_WHEN_MERGED and type(each) is str:
                self._texts[key] = [each]

    def render(self) -> dict[str, Any]:
        """Return the whole object."""
        return self._fields | {key: "".join(texts) for key, texts in self._texts.items()}


def rendered(value: Any) -> Any:
    """Return a value, as a whole if it is an object that arrived in fragments."""
    return value.render() if type(value) in (PartialObject, MergedObject) else value


def _continues(item: PartialObject, fragment: Any) -> bool:
    """Return whether a fragment in a list belongs to the last item of the list."""
    return type(fragment) is dict and "text" in fragment and item.fields.get("type") == fragment.get("type")


def _is_other(item: dict[str, Any], fragment: dict[str, Any]) -> bool:
    """Return whether a fragment cannot belong to an item although it has its index and type."""
    if item.get("data") and fragment.get("data"):
        return True
    return bool(item.get("id") and fragment.get("id") and item["id"] != fragment["id"])
