"""Views of a text: what a reader makes of parts of it, such as the strings of JSON or the joined deltas of a stream.

Secrets are found in a view, and what removes them is carried back to the text, whose other characters stay as they are.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

_LITERAL: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_HIGH: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_ESCAPE: Final = re.compile(rf"{_HIGH}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}|\\u[0-9a-fA-F]{{4}}|\\.", re.DOTALL)


class Edit(NamedTuple):
    """What replaces a part of a text: why it does, and where it is for a reader."""

    start: int
    end: int
    text: str
    kind: str
    place: str
    secret: str = ""


class Segment(NamedTuple):
    """A part of a text: where it begins, its characters, and whether JSON escapes are undone in what is read."""

    start: int
    raw: str
    escaped: bool = False

    @property
    def shown(self) -> str:
        """What a reader makes of it."""
        if not self.escaped:
            return self.raw
        read: str = json.loads(f'"{self.raw}"', strict=False)
        return read

    def offset(self, position: int) -> int:
        """Return where the character at a position of what is read begins in the text, or where the last one ends."""
        # An escape is read as one character, so that what is read is shorter by the rest of it.
        hidden = 0
        for escape in _ESCAPE.finditer(self.raw) if self.escaped else ():
            if escape.start() - hidden >= position:
                break
            hidden += escape.end() - escape.start() - 1
        return self.start + position + hidden


def literals(text: str, start: int = 0) -> Iterator[Segment]:
    """Yield the strings of a JSON text, keys as well, in their order; `start` is where the text begins in another."""
    for match in _LITERAL.finditer(text):
        yield Segment(start + match.start(1), match[1], "\\" in match[1])


def lifted(edits: Iterable[Edit], segments: Sequence[Segment]) -> Iterator[Edit]:
    """Yield edits of the joined text of some segments as edits of the text that holds them.

    What replaces a secret stands in the first segment that has a part of it.
    """
    shown = [segment.shown for segment in segments]
    starts = [0]
    for each in shown:
        starts.append(starts[-1] + len(each))
    for edit in edits:
        first = bisect_right(starts, edit.start) - 1
        text = edit.text
        for number in range(first, len(segments)):
            if starts[number] >= edit.end:
                break
            begin = segments[number].offset(max(0, edit.start - starts[number]))
            end = segments[number].offset(min(len(shown[number]), edit.end - starts[number]))
            if begin < end:
                yield edit._replace(start=begin, end=end, text=text)
                text = ""


def applied(text: str, edits: Iterable[Edit]) -> tuple[str, list[Edit]]:
    """Return a text after some edits, and those that were made: of two that overlap, the first and longest."""
    made: list[Edit] = []
    for edit in sorted(edits, key=lambda each: (each.start, -each.end)):
        if made and edit.start < made[-1].end:
            made[-1] = made[-1]._replace(end=max(made[-1].end, edit.end))
        else:
            made.append(edit)
    parts, at = [], 0
    for edit in made:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]]), made
