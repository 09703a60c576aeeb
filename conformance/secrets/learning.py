"""What traffic shows to be a secret, so that it is removed wherever it comes again, in whatever encoding."""

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from conformance.secrets import MIN_LENGTH, Scrubber, names
from conformance.secrets.bodies import edited
from conformance.secrets.texts import SIGNED, USER
from conformance.secrets.urls import PARAMETER, secrets_of

MAX_LEARNED: Final = 128
"""How many secrets of one text are looked for elsewhere; further ones are only removed where they stand."""

_PART: Final = re.compile(r"[^\s;,=\"']{12,}")
_RANDOM: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])")


def of_headers(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the values of the headers of a request that are not known to hold none, and what they are made of."""
    for name, value in headers:
        if not names.is_kept_header(name):
            yield from _of_value(value)


def of_reply_headers(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the values of the headers of a reply whose names say that they are secrets, such as cookies."""
    for name, value in headers:
        if names.is_secret(name):
            yield from _of_value(value)


def _of_value(value: str) -> Iterator[str]:
    plain = names.without_scheme(value.strip())
    yield from _worthy([value.strip(), plain])
    if plain != value.strip() and value.lower().startswith("basic "):
        yield from _worthy(_of_basic(plain))
    yield from _worthy([part for part in _PART.findall(value) if _RANDOM.match(part)])


def _of_basic(value: str) -> Iterator[str]:
    """Yield the user and the password of an authorization by these."""
    try:
        yield from b64decode(value).decode().split(":", 1)
    except ValueError:
        return


def of_url(url: str) -> Iterator[str]:
    """Yield what in a URL is a secret: user, password, parameters, fragments, and tokens in its path."""
    yield from _worthy(secrets_of(url))


def of_text(text: str) -> Iterator[str]:
    """Yield what in a body, or in a file, is a secret by its name, its shape or its place."""
    _, made = edited(Scrubber(), text)
    found = dict.fromkeys([each.secret for each in made if each.kind != SIGNED])
    signed = [value for each in made if each.kind == SIGNED for _, value in PARAMETER.findall(each.secret[1:])]
    users = [part for each in made if each.kind == USER for part in each.secret.split(":")]
    parts = [part for part in signed if _RANDOM.match(part)]
    yield from list(_worthy([*found, *users, *parts, *map(unquote, parts)]))[:MAX_LEARNED]


def _worthy(values: Iterable[str]) -> Iterator[str]:
    """Yield the values that are long enough, and not words that a text has for other reasons."""
    for each in values:
        if len(each) >= MIN_LENGTH and not names.is_plain(each) and not names.is_unset(each):
            yield each
