"""Plain values from the events of a YAML text, because PyYAML's own constructor follows YAML 1.1."""

import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamStartEvent,
)

from conformance.documents.bounds import INTEGERS, JSON, Bounds
from conformance.documents.pointer import escape
from conformance.errors import InvalidDocument

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final[Mapping[str, JSON]] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STARTS: Final = "-0123456789"
"""How a number starts."""
_STRING_TAGS: Final = ("!", "tag:yaml.org,2002:str")
_BINARY_TAGS: Final = ("!binary", "tag:yaml.org,2002:binary")
_SHOWN_TOKENS: Final = 8


class _Anchored(NamedTuple):
    """A value that aliases may repeat, how many values it holds, and how deeply they are nested."""

    value: Any
    values: int
    height: int


def compose(text: str, file: str, bounds: Bounds, *, foreign: bool) -> tuple[Any, dict[str, int]]:
    """Return the value of a text's only document, and the line of each pointer in it."""
    composer = _Composer(text, file, bounds, foreign=foreign)
    try:
        value = composer.document()
    except yaml.MarkedYAMLError as error:
        line: int | None = error.problem_mark.line + 1 if error.problem_mark else None
        raise InvalidDocument(f"expected YAML, got: {error.problem or error.context}", file, line) from None
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        raise InvalidDocument(f"expected printable characters, got: {error.reason}", file, line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidDocument(f"expected YAML, got: {error}", file) from None
    return value, composer.lines


def _line(event: Event) -> int:
    mark: Any = event.start_mark
    return int(mark.line) + 1


class _Composer:
    """One pass over the events; `values` and `deepest` count the values composed so far, with aliases followed."""

    def __init__(self, text: str, file: str, bounds: Bounds, *, foreign: bool) -> None:
        self.events: Iterator[Event] = yaml.parse(text, Loader=_LOADER)
        self.file, self.bounds, self.foreign = file, bounds, foreign
        self.lines: dict[str, int] = {}
        self.anchors: dict[str, _Anchored] = {}
        self.values = 0
        self.deepest = 0

    def document(self) -> Any:
        start = next(self.events)
        while isinstance(start, StreamStartEvent):
            start = next(self.events)
        if not isinstance(start, DocumentStartEvent):
            self.fail("expected a YAML document, got an empty text", start, None)
        first = next(self.events)
        self.lines[""] = _line(first)
        value = self.value(first, "", 0)
        end = next(self.events)
        while isinstance(end, DocumentEndEvent):
            end = next(self.events)
        if isinstance(end, DocumentStartEvent):
            self.fail("expected one document, got a second one", end, None)
        return value

    def fail(self, message: str, event: Event, pointer: str | None) -> NoReturn:
        raise InvalidDocument(message, self.file, _line(event), pointer)

    def value(self, event: Event, pointer: str, depth: int) -> Any:
        if isinstance(event, ScalarEvent) and not event.anchor:  # as are most: they need none of the counts below
            self.count(1, depth, event, pointer)
            return self.scalar(event, pointer)
        if isinstance(event, AliasEvent):
            return self.alias(event, pointer, depth)
        # The counts so far are set aside, so that an anchored value knows its own size and height.
        values, deepest, self.deepest = self.values, self.deepest, depth
        self.count(1, depth, event, pointer)
        value: Any
        if isinstance(event, ScalarEvent):
            value = self.scalar(event, pointer)
        else:
            self.check_tag(event, pointer)
            self.count(0, depth + 1, event, pointer)
            inside = self.mapping if isinstance(event, MappingStartEvent) else self.sequence
            value = inside(pointer, depth + 1)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self.anchors[anchor] = _Anchored(value, self.values - values, self.deepest - depth)
        self.deepest = max(self.deepest, deepest)
        return value

    def count(self, values: int, depth: int, event: Event, pointer: str) -> None:
        self.values += values
        if depth > self.deepest:  # noqa: PLR1730 — `max` takes as long as all else here, and this runs for each value
            self.deepest = depth
        if self.values > self.bounds.values:
            self.fail(f"expected at most {self.bounds.values} values, got more", event, pointer)
        if depth > self.bounds.depth:
            message = f"expected at most {self.bounds.depth} nested lists and mappings, got more"
            self.fail(message, event, "/".join(pointer.split("/")[: _SHOWN_TOKENS + 1]))

    def alias(self, event: AliasEvent, pointer: str, depth: int) -> Any:
        if not self.foreign:
            self.fail(f"expected no alias, got *{event.anchor}", event, pointer)
        anchored = self.anchors.get(event.anchor or "")
        if anchored is None:
            self.fail(f"expected an alias of an earlier anchor, got *{event.anchor}", event, pointer)
        self.count(anchored.values, depth + anchored.height, event, pointer)
        return anchored.value

    def sequence(self, pointer: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            child = f"{pointer}/{len(items)}"
            self.lines[child] = _line(event)
            items.append(self.value(event, child, depth))
        return items

    def mapping(self, pointer: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self.key(event, pointer)
            child = f"{pointer}/{escape(key)}"
            if key in members:
                message = f"expected each key once, got {key!r} again (first on line {self.lines[child]})"
                self.fail(message, event, child)
            self.lines[child] = _line(event)
            members[key] = self.value(next(self.events), child, depth)
        return members

    def key(self, event: Event, pointer: str) -> str:
        if not isinstance(event, ScalarEvent):
            self.fail("expected a string as key, got a list, a mapping or an alias", event, pointer)
        if event.value == "<<" and event.implicit[0]:
            self.fail("expected no merge key, got '<<'", event, pointer)
        key = self.text(event, pointer) if self.foreign else self.value(event, pointer, 0)
        if not isinstance(key, str):
            self.fail(f"expected a string as key, got {event.value}; put it in quotes", event, pointer)
        return key

    def check_tag(self, event: Event, pointer: str) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in _STRING_TAGS and not self.foreign:
            self.fail(f"expected no tag, got {tag!r}", event, pointer)

    def scalar(self, event: ScalarEvent, pointer: str) -> Any:
        text = event.value
        if self.foreign and event.tag in _BINARY_TAGS:
            try:
                return binascii.a2b_base64(text)
            except binascii.Error as error:
                self.fail(f"expected base64, got: {error}", event, pointer)
        self.check_tag(event, pointer)
        if not event.implicit[0]:
            return self.text(event, pointer)
        if text in _WORDS:
            return _WORDS[text]
        number = _NUMBER.fullmatch(text) if text[0] in _STARTS else None
        if number is None:
            return self.text(event, pointer)
        whole = number.group(1) is None and number.group(2) is None
        return self.integer(event, pointer) if whole else self.decimal(event, pointer)

    def text(self, event: ScalarEvent, pointer: str) -> str:
        text: str = event.value
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail("expected Unicode text, got a lone surrogate", event, pointer)
        return text

    def integer(self, event: ScalarEvent, pointer: str) -> int:
        if len(event.value) > 20 or int(event.value) not in INTEGERS:
            self.fail(f"expected an integer of at most 64 bits, got {event.value[:24]}", event, pointer)
        return int(event.value)

    def decimal(self, event: ScalarEvent, pointer: str) -> float:
        number = float(event.value)
        if abs(number) == float("inf"):
            self.fail(f"expected a number that fits in a double, got {event.value[:24]}", event, pointer)
        return number
