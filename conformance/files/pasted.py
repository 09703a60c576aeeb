"""A text of no known form that holds an error: what somebody copied from a terminal, an issue or a chat."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from conformance.error_texts import Explanation, explain
from conformance.formats import Input
from conformance.wire.exchange import Exchange

_KIND: Final = "printed"
_SUFFIXES: Final = frozenset({"", ".txt", ".log", ".out", ".err", ".text"})
"""Of files that hold what a program wrote; documents and sources quote errors, too."""

_NOTE: Final = "a text of no known form, in which the words of an error were found; there is no request to check"
_MOST_LINES: Final = 60
"""How many lines of a text, the last ones, are looked at one by one."""

_CONTINUED: Final = 4
"""How many lines an error may go on for, broken by a terminal."""

_TELLING: Final = re.compile(
    r"error|exception|\b[45]\d\d\b|invalid|fail|unsupported|must|cannot|denied|refused", re.IGNORECASE
)

_RAISED: Final = re.compile(
    r"error|exception|failed|failure|\bhttp\b|\bstatus\b|错误|报错|エラー|ошибк|fehler", re.IGNORECASE
)
"""What shows that a program wrote a text, not somebody who writes about errors."""


def error_in(text: str, path: str) -> Input | None:
    """Return the error in a text as the reply to a request that is not known; None if the text holds none."""
    found = next(_errors_in(text), None) if PurePath(path).suffix.lower() in _SUFFIXES else None
    if found is None:
        return None
    line, said, explained = found
    exchange = Exchange.of_plain(None, {"error": {"message": said}}, explained.status)
    return Input(path, line, _KIND, (exchange,), lines=(line,), notes=(_NOTE,))


def _errors_in(text: str) -> Iterator[tuple[int, str, Explanation]]:
    """Yield the errors in a text that are explained, each with its line and its text."""
    lines = text.splitlines()
    telling = [number for number, line in enumerate(lines) if _TELLING.search(line)]
    for number in telling[-_MOST_LINES:]:
        for size in (1, _CONTINUED):
            said = "\n".join(lines[number : number + size])
            explained = explain(said)
            if explained is not None and (explained.sayings or (explained.is_likely and _RAISED.search(said))):
                yield number + 1, said, explained
                break
    whole = explain(text)
    if whole is not None and _RAISED.search(text):
        yield 1, text, whole
