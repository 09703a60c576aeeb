"""Secrets: what a run must not write or print, in whatever form a provider sends it back.

A reply can echo a key: in an error, in its text, split between the deltas of a stream, with JSON escapes, encoded for a
URL or in base64. A `Scrubber` knows the secrets of a run and replaces them in texts and in the bodies of replies. What
looks like a key of a well-known host is replaced as well (see `shapes`), though no run knows it.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from conformance.errors import Unusable

REDACTED: Final = "[redacted]"

MIN_LENGTH: Final = 6
"""The length of the shortest secret that is replaced; a shorter one, like `EMPTY` or `none`, is a word."""

_NAMES: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PAT|CREDENTIALS)$", re.IGNORECASE)
"""How the names of environment variables end whose values are secrets."""

_MIN_OF_ENVIRONMENT: Final = 12
"""The length of the shortest value of the environment that counts as a secret, unless the run uses it as its key."""

_MIN_HALF: Final = 12
"""The length of the shortest beginning or end of a secret that is replaced where the rest of it is missing."""

_MIN_ENCODED: Final = 8
_ESCAPES: Final = ("\\u", "\\/", "\\x", "%")
_CACHED: Final = 16
_WIDE: Final = ("utf-16-le", "utf-16-be", "utf-32-le")
STAYS: Final = "the provider sends back a secret in a form that cannot be removed, so nothing of it was written"


class Unscrubbable(Unusable):
    """A secret is in what would be written, in a form that cannot be replaced; so nothing is written."""


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Replaces the secrets of a run, in all their encodings, by `[redacted]`."""

    secrets: tuple[str, ...] = field(default=(), repr=False)

    def text(self, text: str) -> str:
        """Return a text without the secrets; raises Unscrubbable if that fails."""
        if not self.secrets:
            return text
        found = _pattern(self.secrets, escaped=_has_escapes(text)).sub(REDACTED, text)
        if found != text and self.spans(found):
            raise Unscrubbable(STAYS)
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the secrets are in a text, in order."""
        if not self.secrets:
            return []
        return [match.span() for match in _pattern(self.secrets, escaped=_has_escapes(text)).finditer(text)]

    def check_bytes(self, data: bytes) -> None:
        """Raise Unscrubbable for data that hold a secret in an encoding that other programs cannot read as text."""
        if b"\0" in data and any(
            self.spans(data[start:].decode(each, "replace")) for each in _WIDE for start in (0, 1)
        ):
            raise Unscrubbable(STAYS)


def scrubber(values: Iterable[str] = (), urls: Iterable[str] = ()) -> Scrubber:
    """Return the scrubber for some secrets, for those in some URLs, and for those of the environment and its proxies.

    A value in quotes or with blanks around it is a secret without them, too.
    """
    proxies = [value for name, value in os.environ.items() if name.lower().endswith("_proxy")]
    found = [*values, *(part for url in (*urls, *proxies) for part in _of_url(url)), *of_environment(os.environ)]
    every = {form for value in found for form in (value, value.strip(), value.strip(" \t\r\n\"'"))}
    # The longest first: a secret may hold another one.
    return Scrubber(
        tuple(sorted([each for each in every if len(each) >= MIN_LENGTH], key=lambda each: (-len(each), each)))
    )


def named_secrets(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables whose names say that they are secrets, such as those that a user passes on."""
    return tuple([value for name, value in variables.items() if _NAMES.search(name)])


def of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of the environment variables whose names say that they are secrets."""
    for value in named_secrets(environment):
        if len(value) >= _MIN_OF_ENVIRONMENT and not value.startswith(("/", "~")):
            yield value


def _of_url(url: str) -> Iterator[str]:
    """Yield the user and the password of a URL, and what its query names as a key, token or the like."""
    try:
        parts = urlsplit(url)
        given = [parts.username, parts.password, *named_secrets(dict(parse_qsl(parts.query)))]
    except ValueError:
        return
    for each in given:
        if each:
            yield from {each, unquote(each)}


def _has_escapes(text: str) -> bool:
    return any(each in text for each in _ESCAPES)


@lru_cache(maxsize=_CACHED)
def _pattern(secrets: tuple[str, ...], *, escaped: bool) -> "re.Pattern[str]":
    """Return what finds secrets in texts; `escaped`: also where each character is escaped in a way of its own."""
    forms = [form for secret in secrets for form in (_with_halves(secret, escaped=escaped), *_in_base64(secret))]
    return re.compile("|".join(forms))


def _with_halves(secret: str, *, escaped: bool) -> str:
    """Return the pattern of a secret, and of its first and last half, for a provider that cuts what it quotes."""
    write = _escaped if escaped else re.escape
    forms = [write(secret)] if escaped else [re.escape(form) for form in _written(secret)]
    length = max(_MIN_HALF, (len(secret) + 1) // 2)
    halves = [write(secret[:length]) + r"[\w-]*", write(secret[-length:])] if length < len(secret) else []
    return "|".join([*forms, *halves])


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
