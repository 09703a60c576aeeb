"""Texts without secrets: JSON, lines of JSON, event streams, logs, and what is quoted in them.

The deltas of a stream are put together before they are searched, since a secret may begin in one and end in another.
Then each delta is written without its part of the secret. All other characters stay as they are.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from conformance.secrets import KNOWN, STAYS, Scrubber, Unscrubbable, known, merged, names, shapes
from conformance.secrets.members import Members, StringPlace, event_place, is_event, strings
from conformance.secrets.texts import Found, Hints, decoded_text, find, hints, shaped
from conformance.secrets.urls import token_parts
from conformance.secrets.views import Edit, Segment, applied, lifted, literals

_STREAM: Final = re.compile(r"^\ufeff?data:", re.MULTILINE)
_LINE: Final = re.compile(r"[^\r\n]+|\r\n|\n|\r")
_SHORT: Final = 500
_DATA: Final = re.compile(r"\ufeff?data: ?")
_MAX_DEPTH: Final = 6
_MIN_NESTED: Final = 8


def scrub(scrubber: Scrubber, body: bytes, asked: str = "") -> bytes:
    """Return the body of a request or a reply without secrets; see `Scrubber.text`.

    Raises Unscrubbable if a secret of the run cannot be removed.
    """
    scrubber.check_bytes(body)
    text = body.decode("utf-8", "surrogateescape")
    found = scrubber.text(text, asked)
    return body if found == text else found.encode("utf-8", "surrogateescape")


def clean(scrubber: Scrubber, text: str, asked: str = "") -> str:
    """Return a text without secrets; raises Unscrubbable if a secret of the run cannot be removed."""
    return edited(scrubber, text, asked)[0]


def edited(scrubber: Scrubber, text: str, asked: str = "") -> tuple[str, list[Edit]]:
    """Return a text without secrets, and what was replaced; raises Unscrubbable as `clean` does."""
    found, made = applied(text, _SecretSearch(scrubber, asked).edits(text))
    if not scrubber.secrets:
        return found, made
    # What is not in any string: numbers, comments of a stream, and JSON that is cut.
    left = known(scrubber.secrets, found)
    outside = [Edit(*each[:2], scrubber.placeholders.of(each.secret), KNOWN, "") for each in left]
    found, more = applied(found, outside)
    if found != text and next(_SecretSearch(scrubber, asked, only_known=True).edits(found), None) is not None:
        raise Unscrubbable(STAYS)
    return found, made + more


def may_hold(scrubber: Scrubber, texts: Sequence[str]) -> bool:
    """Return whether one of some texts may have a secret; quick, and right if it says no."""
    # No secret but one in lines of JSON goes beyond the end of a line, so what none of them has is not in any.
    joined = "\n".join(texts)
    search = _SecretSearch(scrubber, hints=hints(joined, scrubber.secrets))
    return search.may_hold(joined) or any(["\n{" in each for each in texts])


def clean_name(scrubber: Scrubber, name: str) -> str:
    """Return a name or an id without secrets."""
    return applied(name, _SecretSearch(scrubber).of_plain(name, StringPlace(is_name=True)))[0]


class _String(NamedTuple):
    """A string of a document, where it is for a reader, and where it is in the text."""

    place: StringPlace
    text: str
    segment: Segment


@dataclass(frozen=True, slots=True)
class _SecretSearch:
    """Looks for secrets in a text, and in what is quoted in it, such as the JSON in a string."""

    scrubber: Scrubber
    asked: str = ""
    only_known: bool = False
    at: tuple[str, ...] = ()
    depth: int = 0
    hints: Hints | None = None

    def edits(self, text: str) -> Iterator[Edit]:
        """Yield what removes the secrets from a text."""
        search = self._hinted(text)
        first = text.lstrip()[:1]
        if "data:" in text and _STREAM.search(text):
            yield from search.of_stream(text)
        elif "\n{" in text and (first not in "{[" or _parsed(text[: text.index("\n{")]) is not None):
            yield from search.of_lines(text)
        elif first in ("{", "["):
            yield from search.of_json(text)
        else:
            yield from search.of_plain(text, StringPlace())

    def _hinted(self, text: str) -> "_SecretSearch":
        """Return the search of a text that has hints of its own; those of one that holds a short one are enough."""
        if self.hints is not None and len(text) < _SHORT:
            return self
        secrets = self.scrubber.secrets if self.hints is None else self.hints.secrets
        return replace(self, hints=hints(text, secrets))

    def of_json(self, text: str) -> Iterator[Edit]:
        """Yield the edits of a JSON text."""
        if not self.may_hold(text):
            return
        value = _parsed(text)
        if value is None:
            yield from self.of_plain(text, StringPlace())
        else:
            yield from self._of_strings(_strings(text, value, 0, StringPlace()))

    def may_hold(self, text: str) -> bool:
        """Return whether a text may hold a secret, or a stream, whose pieces show nothing each alone."""
        return self.hints is None or self.hints.any or "data:" in text or '"delta"' in text or '"candidates"' in text

    def of_stream(self, text: str) -> Iterator[Edit]:
        """Yield the edits of a stream; lines that are not data are plain text."""
        found: list[_String] = []
        data: list[Segment] = []
        line_end = False
        for match in _LINE.finditer(text):
            line, is_end = match[0], match[0] in ("\r\n", "\n", "\r")
            if is_end and line_end:
                found += self._event(data)
                data = []
            line_end = is_end
            marked = _DATA.match(line)
            if marked:
                data.append(Segment(match.start() + marked.end(), line[marked.end() :]))
            elif not is_end:
                edits = list(self.nested(line, StringPlace()))
                yield from lifted(edits, [Segment(match.start(), line)]) if edits else ()
        yield from self._of_strings([*found, *self._event(data)])

    def _event(self, data: Sequence[Segment]) -> Iterator[_String]:
        """Yield the strings of an event; of one in several lines, each line, unless these are JSON together."""
        for segment in data:
            value = _parsed(segment.raw)
            if isinstance(value, (Members, list)):
                yield from _strings(segment.raw, value, segment.start, event_place(value))
            else:
                yield _String(StringPlace(("data",)), segment.raw, segment)

    def of_lines(self, text: str) -> Iterator[Edit]:
        """Yield the edits of lines, some of which are JSON; those that are events of a stream are read together."""
        found: list[_String] = []
        rest: list[str] = []
        for match in _LINE.finditer(text):
            line = match[0]
            value = _parsed(line) if line.startswith(("{", "[")) else None
            rest.append(line if value is None else " " * len(line))
            if is_event(value):
                found += _strings(line, value, match.start(), event_place(value))
            elif value is not None and (edits := list(self._hinted(line).of_json(line))):
                yield from lifted(edits, [Segment(match.start(), line)])
        yield from self._of_strings(found)
        # A secret may have several lines, such as a private key.
        yield from self.of_plain("".join(rest), StringPlace())

    def _of_strings(self, found: Sequence[_String]) -> Iterator[Edit]:
        groups: dict[StringPlace, list[_String]] = {}
        before = StringPlace(), ""
        for each in found:
            # An argument of a command is named by the option before it in the same list.
            option = "" if each.place.path[:-1] != before[0].path[:-1] else before[1]
            before = each.place, each.text
            if edits := list(self._of_argument(each, option) if option.startswith("-") else self._of_string(each)):
                yield from lifted(edits, [each.segment])
            # An id comes whole, and what comes after it is another one.
            if each.text and not each.place.is_id:
                groups.setdefault(each.place, []).append(each)
        for place, group in groups.items():
            # Strings that are all the same, such as the id of a stream, are not a text in pieces.
            if len(group) > 1 and len({each.text for each in group}) > 1:
                joined = "".join([each.text for each in group])
                if edits := list(self._of_joined(joined, place)):
                    yield from lifted(edits, [each.segment for each in group])

    def _of_argument(self, given: _String, option: str) -> Iterator[Edit]:
        """Yield the edits of a string that follows an option in a list."""
        text, name = given.text, option.lstrip("-")
        if names.is_secret(name) and not self.only_known and not names.is_unset(text) and text not in self.asked:
            yield self._edit(Found(0, len(text), f"value of {name}", text), given.place)
        else:
            yield from self._of_string(given)

    def _of_joined(self, text: str, place: StringPlace) -> Iterator[Edit]:
        # The pieces alone gave no hints.
        yield from replace(self, hints=hints(text, self.scrubber.secrets)).nested(text, place)

    def _of_string(self, given: _String) -> Iterator[Edit]:
        text, place = given.text, given.place
        start = None if self.only_known else place.secret_from(text)
        if place.is_encoded and (body := decoded_text(text)):
            yield from self._of_encoded(text, body, place)
        elif start is None:
            if self.may_hold(text):
                yield from self.nested(text, place)
        elif text[start:] not in self.asked:
            found = Found(start, len(text), f"value of {place.name}", text[start:])
            yield self._edit(found, place)

    def _of_encoded(self, text: str, body: str, place: StringPlace) -> Iterator[Edit]:
        """Yield the edits of a string that is a body in base64: all of it, if the body has a secret."""
        inner = replace(self, hints=None, at=(*self.at, place.shown), depth=self.depth + 1)
        found, made = applied(body, inner.edits(body))
        encoded = b64encode(found.encode("utf-8", "surrogateescape")).decode()
        yield from [each._replace(start=0, end=len(text), text=encoded) for each in made]

    def nested(self, text: str, place: StringPlace) -> Iterator[Edit]:
        """Yield the edits of a string, which may quote JSON or a stream."""
        if len(text) < _MIN_NESTED or self.depth >= _MAX_DEPTH or place.is_id or place.is_blob:
            yield from self.of_plain(text, place)
        elif text.lstrip()[:1] in ("{", "[") or "\n{" in text or "data:" in text:
            yield from replace(self, at=(*self.at, place.shown), depth=self.depth + 1).edits(text)
        else:
            yield from self.of_plain(text, place)

    def of_plain(self, text: str, place: StringPlace) -> Iterator[Edit]:
        """Yield the edits of a text as it stands."""
        secrets = self.scrubber.secrets if self.hints is None else self.hints.secrets
        found = known(secrets, text) if secrets else []
        if self.only_known or (place.is_blob and not shapes.is_key(text)):
            others: Iterable[Found] = ()
        else:
            others = shaped(text) if place.is_id else find(text, self.hints)
            others = [*others, *_tokens(text)] if place.is_address else others
        found += [each for each in others if text[each.start : each.end] not in self.asked]
        for each in merged(found) if found else ():
            yield self._edit(each, place)

    def _edit(self, found: Found, place: StringPlace) -> Edit:
        holders = self.scrubber.placeholders
        shown = holders.within_id(found.secret) if place.is_id else holders.of(found.secret)
        last = [*place.shown.split("/")[:-1], "(name)"] if place.is_name else [place.shown]
        where = "/".join([each for each in (*self.at, *last) if each])
        return Edit(
            found.start, found.end, shown if found.kept is None else found.kept, found.kind, where, found.secret
        )


def _tokens(url: str) -> Iterator[Found]:
    """Yield what looks like a token in the path of the URL of a request."""
    host = re.match(r"\w+://[^/?#]*", url)
    at = host.end() if host else 0
    for part in token_parts(url[at:].partition("?")[0]):
        start = url.index(part, at)
        yield Found(start, start + len(part), "token in the path of a URL", part)


def _strings(text: str, value: Any, start: int, place: StringPlace) -> list[_String]:
    """Return the strings of a JSON text, names as well."""
    pairs = zip(strings(value, place), literals(text, start), strict=True)
    return [_String(where, shown, segment) for (where, shown), segment in pairs]


def _parsed(text: str) -> Any:
    """Return the value of a JSON text, whose objects are `Members`; None for any other text and for a number."""
    try:
        value = json.loads(text, object_pairs_hook=Members)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (Members, list, str)) else None
