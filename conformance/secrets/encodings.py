"""Known secrets in texts, in whatever form a provider sends them back: escaped for JSON or URLs, in base64, cut."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote

_MIN_HALF: Final = 12
"""The length of the shortest beginning or end of a secret that is replaced where the rest of it is missing."""

_MIN_ENCODED: Final = 8
_ESCAPES: Final = re.compile(r"\\[u/x]|%[0-9A-Fa-f]{2}")
_BEGINNINGS: Final = ("\\u", "\\/", "\\x", "%")
_ESCAPED: Final = re.compile(r"\\+(?:([\"'/])|u00([0-9A-Fa-f]{2})|x([0-9A-Fa-f]{2}))|%(?:25)*([0-9A-Fa-f]{2})")
_CACHED: Final = 256


def candidates(secrets: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the secrets that a text may have; a pattern is slow, and most texts hold nothing of most secrets."""
    escaped = has_escapes(text)
    plain = unescaped(text) if escaped else text

    def possible(secret: str) -> bool:
        # Of characters beyond ASCII, an escape has one byte, or half of one.
        return (escaped and not secret.isascii()) or any([each in text or each in plain for each in _needles(secret)])

    return tuple(filter(possible, secrets))


def spans(secrets: Iterable[str], text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a text has some secrets: the beginning, the end, and the secret."""
    possible = candidates(secrets, text)
    escaped = bool(possible) and has_escapes(text)
    for secret in possible:
        for match in _pattern(secret, escaped=escaped).finditer(text):
            yield *match.span(), secret


def unescaped_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the pieces of a text that stand for one character each, with escapes of JSON and URLs undone."""
    at = 0
    for match in _ESCAPED.finditer(text):
        yield from [(number, number + 1, text[number]) for number in range(at, match.start())]
        yield *match.span(), _undone(match)
        at = match.end()
    yield from [(number, number + 1, text[number]) for number in range(at, len(text))]


def has_escapes(text: str) -> bool:
    """Return whether a text has characters that are escaped as JSON and URLs do it."""
    # Most backslashes stand before quotation marks, and a pattern looks at each one.
    return any([each in text for each in _BEGINNINGS]) and _ESCAPES.search(text) is not None


def unescaped(text: str) -> str:
    """Return a text with escapes of JSON and URLs undone."""
    return _ESCAPED.sub(_undone, text)


def _undone(match: "re.Match[str]") -> str:
    return match[1] or chr(int(match[2] or match[3] or match[4], 16))


@lru_cache(maxsize=_CACHED)
def _needles(secret: str) -> tuple[str, ...]:
    """Return texts of which a text without escapes has one if it has the secret in any form."""
    length = _half(secret)
    forms = [part for form in _written(secret) for part in (form[:length], form[-length:])]
    return tuple(dict.fromkeys([*forms, *_base64(secret)]))


@lru_cache(maxsize=_CACHED)
def _pattern(secret: str, *, escaped: bool) -> "re.Pattern[str]":
    """Return what finds a secret in texts; `escaped`: also where each character is escaped in a way of its own."""
    return re.compile("|".join([_with_halves(secret, escaped=escaped), *_in_base64(secret)]))


def _with_halves(secret: str, *, escaped: bool) -> str:
    """Return the pattern of a secret, and of its first and last half, for a provider that cuts what it quotes."""
    write = _escaped if escaped else re.escape
    forms = [write(secret)] if escaped else [re.escape(form) for form in _written(secret)]
    length = _half(secret)
    halves = [write(secret[:length]) + r"[\w-]*", write(secret[-length:])] if length < len(secret) else []
    return "|".join([*forms, *halves])


def _half(secret: str) -> int:
    return max(_MIN_HALF, (len(secret) + 1) // 2)


def _written(secret: str) -> list[str]:
    """Return a secret as JSON and URLs usually write it, once and twice; the longest first."""
    once = [json.dumps(secret, ensure_ascii=each)[1:-1] for each in (True, False)]
    twice = [json.dumps(each, ensure_ascii=False)[1:-1] for each in once]
    return sorted({secret, *once, *twice, quote(secret), quote(secret, safe="")}, key=len, reverse=True)


def _in_base64(secret: str) -> Iterator[str]:
    """Yield patterns of what base64 makes of a secret; in JSON and URLs only its special characters are escaped."""
    for core in _base64(secret):
        yield "".join([each if each.isalnum() else _character(each) for each in core])


def _base64(secret: str) -> Iterator[str]:
    """Yield the characters that base64 has for a secret at any offset in what is encoded, in both alphabets."""
    data = secret.encode("utf-8", "surrogatepass")
    for offset in range(3):
        encoded = b64encode(bytes(offset) + data).decode()
        start, end = (offset * 8 + 5) // 6, (offset + len(data)) * 8 // 6
        core = encoded[start:end]
        if len(core) >= _MIN_ENCODED:
            yield core
            if (other := core.replace("+", "-").replace("/", "_")) != core:
                yield other


def _escaped(text: str) -> str:
    return "".join(map(_character, text))


@lru_cache(maxsize=512)
def _character(character: str) -> str:
    """Return the pattern of a character: as it is, with escapes of JSON (also repeated ones), encoded for a URL."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    wide = "".join([rf"\\{{1,8}}u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4)])
    data = character.encode("utf-8", "surrogatepass").hex()
    percent = "".join([rf"%(?:25){{0,4}}(?i:{data[at : at + 2]})" for at in range(0, len(data), 2)])
    forms = [re.escape(character), wide, percent]
    forms += [rf"\\{{1,8}}{re.escape(character)}"] if character in '"\\/' else []
    forms += [rf"\\{{1,8}}x(?i:{data})"] if len(data) == 2 else []
    return f"(?:{'|'.join(forms)})"
