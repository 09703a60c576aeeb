"""An item of a streamed reply while its events are read: its parts, texts, and what is wrong with them."""

from collections.abc import Iterator
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.keys import key_of
from conformance.wire.native import Irregularity
from conformance.wire.repeats import ARGUMENTS, Fragments
from conformance.wire.text import quoted_difference
from conformance.wire.values import as_object

_FINALS: Final = ("text", "refusal", "arguments", "input", "code", "diff")
"""The keys of a `.done` event under which the whole text is."""
_PARTS: Final = ("response.content_part.", "response.reasoning_summary_part.", "response.reasoning_part.")
_LISTS: Final = {
    "response.output_text": "content",
    "response.refusal": "content",
    "response.reasoning_text": "content",
    "response.reasoning_summary_text": "summary",
    "response.reasoning_summary": "summary",
}
"""The list of the item in which the texts of an event's kind are, by the kind without its last word."""
_KEYS: Final = {
    "response.function_call_arguments": "arguments",
    "response.mcp_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.code_interpreter_call_code": "code",
}
"""The key of the item that holds the text of an event's kind."""
_TYPES: Final = {"response.refusal": "refusal", "response.reasoning_text": "reasoning_text"}
_COMPARED: Final = ("type", "id", "call_id", "name", "arguments", "input", "namespace")
"""What the item at the end of the response must have in common with the item of the stream.

Not the encrypted content: OpenAI encrypts it again each time, and takes either.
"""


class Item:
    """An item of the output.

    `begun`: the item as it was added. `done`: the item as it was when it was done; None until then. `texts`: the
    deltas, by their kind and the index of their part.
    """

    def __init__(self, begun: Any, number: int, found: list[Irregularity]) -> None:
        self.begun = dict(begun)
        self.done: dict[str, Any] | None = None
        self.number = number
        self.found = found
        self.id = begun.get("id")
        self.texts: dict[tuple[str, Any], list[str]] = {}
        self.ended: set[tuple[str, Any]] = set()
        self.parts: dict[tuple[str, Any], bool] = {}

    @property
    def place(self) -> Place:
        """Return where the item is in the stream."""
        return "response", self.number, "item"

    def _note(self, kind: str, number: int, message: str) -> None:
        self.found.append(Irregularity(kind, ("response", number), message))

    def extend(self, number: int, kind: str, value: Any) -> list[str] | None:
        """Read an event about the item or one of its parts; return the deltas that it belongs to if it is one."""
        family, _, word = kind.rpartition(".")
        if kind.startswith(_PARTS):
            self._part(number, family, word, value)
        elif word == "delta" and type(value.get("delta")) is str:
            key = self._text_key(number, family, value)
            if key in self.ended:
                self._note("after-text-done", number, f"expected no delta after {family}.done, got one")
            deltas = self.texts.setdefault(key, [])
            deltas.append(value["delta"])
            return deltas
        elif word == "done":
            self._end_text(number, family, value)
        return None

    def _text_key(self, number: int, family: str, value: Any) -> tuple[str, Any]:
        """Return what tells a text of the item from others, and note a part that does not exist."""
        listed = _LISTS.get(family)
        if listed is None:
            return family, None
        name = "summary_index" if listed == "summary" else "content_index"
        index = value.get(name)
        if type(index) is not int:
            self._note("part-index-missing", number, f"expected a {name}, a whole number, got {index!r}")
        elif family != "response.reasoning_text" and self.parts.get((listed, key_of(index))) is not True:
            self._note("part-not-open", number, f"expected a part that is open, got the {name} {index}")
        return family, key_of(index)

    def _part(self, number: int, family: str, word: str, value: Any) -> None:
        """Read the beginning or the end of a part; the parts of each list are numbered from 0."""
        listed = "summary" if family == "response.reasoning_summary_part" else "content"
        name = "summary_index" if listed == "summary" else "content_index"
        index = value.get(name)
        if word == "added":
            expected = sum([each == listed for each, _ in self.parts])
            if index != expected:
                self._note("part-index-jumps", number, f"expected the {name} {expected}, got {index!r}")
            self.parts[listed, key_of(index)] = True
        elif word == "done":
            if self.parts.get((listed, key_of(index))) is not True:
                self._note("part-not-open", number, f"expected a part that is open, got the {name} {index!r}")
            self.parts[listed, key_of(index)] = False
            self._compare_part(number, listed, key_of(index), as_object(value.get("part")))

    def _compare_part(self, number: int, listed: str, index: Any, part: Any) -> None:
        for (family, at), deltas in self.texts.items():
            if _LISTS.get(family) == listed and at == index:
                said = part.get("refusal" if family == "response.refusal" else "text")
                self._compare(number, "part", "".join(deltas), said)

    def _end_text(self, number: int, family: str, value: Any) -> None:
        name = next((name for name in _FINALS if type(value.get(name)) is str), None)
        if name is None or (family not in _LISTS and family not in _KEYS):
            return
        key = self._text_key(number, family, value)
        self.ended.add(key)
        if key in self.texts:
            self._compare(number, name, "".join(self.texts[key]), value[name])
        else:
            self.texts[key] = [value[name]]

    def _compare(self, number: int, name: str, streamed: str, given: Any) -> None:
        if type(given) is str and given != streamed:
            old, new = quoted_difference(streamed, given)
            self._note("done-differs", number, f"expected the {name} {old}, as the deltas add up to, got {new}")

    def finish(self, number: int, given: Any) -> None:
        """Read the end of the item."""
        if given.get("id") != self.id:
            message = f"expected the id {self.id!r}, as the item was added with, got {given.get('id')!r}"
            self._note("item-id-differs", number, message)
        left = [f"{listed}[{index}]" for (listed, index), is_open in self.parts.items() if is_open]
        if left:
            self._note("part-not-done", number, f"expected every part to be done, got {', '.join(left)} still open")
        unended = sorted({family for family, index in self.texts if (family, index) not in self.ended} & _ENDING)
        if unended:
            self._note("text-not-done", number, f"expected {unended[0]}.done before the item is done, got none")
        for (family, index), deltas in self.texts.items():
            said = given.get(_KEYS[family]) if family in _KEYS else _text_at(given, _LISTS.get(family), index)
            self._compare(number, _KEYS.get(family, "text"), "".join(deltas), said)
        self.done = dict(given)
        self.number = number

    def value(self) -> dict[str, Any]:
        """Return the item as it was when it was done; if it never was, as its deltas make it."""
        if self.done is not None:
            return self.done
        made = dict(self.begun)
        for (family, _), deltas in self.texts.items():
            if family in _KEYS:
                made[_KEYS[family]] = "".join(deltas)
            elif family in _LISTS:
                _put(made, family, "".join(deltas))
        return made

    def fragments(self) -> Iterator[Fragments]:
        """Yield the texts of the item in the fragments in which they came."""
        for (family, _), deltas in self.texts.items():
            yield Fragments(ARGUMENTS if family in _KEYS else family, deltas)

    def difference(self, given: Any) -> str:
        """Return how the item at the end of the response differs from this one; empty if it does not."""
        own = self.value()
        for key in _COMPARED:
            if given.get(key) != own.get(key) and own.get(key) is not None:
                old, new = quoted_difference(str(own[key]), str(given.get(key)))
                return f"expected the {key} {old}, as in the stream, got {new}"
        for key in ("content", "summary"):
            streamed, repeated = _texts(own.get(key)), _texts(given.get(key))
            if streamed != repeated:
                old, new = quoted_difference(streamed, repeated)
                return f"expected the {key} {old}, as in the stream, got {new}"
        return ""


_ENDING: Final = frozenset({*_LISTS, *_KEYS})


def _put(item: dict[str, Any], family: str, text: str) -> None:
    """Add a text to the list of the item that it belongs to."""
    listed = _LISTS[family]
    kind = "summary_text" if listed == "summary" else _TYPES.get(family, "output_text")
    part = {"type": kind, "refusal" if kind == "refusal" else "text": text}
    item[listed] = [*(item.get(listed) or ()), part]


def _text_at(item: Any, listed: str | None, index: Any) -> Any:
    parts = item.get(listed) if listed else None
    if type(parts) is not list or type(index) is not int or not 0 <= index < len(parts):
        return None
    part = as_object(parts[index])
    return part.get("text", part.get("refusal"))


def _texts(parts: Any) -> str:
    """Return the texts of parts, joined."""
    if type(parts) is not list:
        return ""
    return "".join([str(part.get("text") or part.get("refusal") or "") for part in map(as_object, parts)])
