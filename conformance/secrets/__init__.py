"""Secrets: what a run must not write or print, in whatever form a provider sends it back.

A reply can echo a key: in an error, in its text, split between the deltas of a stream, with JSON escapes, encoded for a
URL or in base64. A `Scrubber` knows the secrets of a run and replaces them in texts and in the bodies of replies. What
looks like a key of a well-known host is replaced as well (see `shapes`), though no run knows it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from conformance.errors import Unusable
from conformance.secrets import names
from conformance.secrets.encodings import spans
from conformance.secrets.texts import Found

REDACTED: Final = "[redacted]"

MIN_LENGTH: Final = 6
"""The length of the shortest secret that is replaced; a shorter one, like `EMPTY` or `none`, is a word."""

_MIN_OF_ENVIRONMENT: Final = 12
"""The length of the shortest value of the environment that counts as a secret, unless the run uses it as its key."""

_WIDE: Final = ("utf-16-le", "utf-16-be", "utf-32-le")
_ESCAPED: Final = re.compile(r"[\\%]")
_STEM: Final = "redacted"
MAX_DISTINGUISHED: Final = 10_000
"""How many secrets of a run get placeholders of their own."""

_TOGETHER: Final = 16
"""Of so many texts at once is looked whether they may have secrets, if some of them may."""

KNOWN: Final = "known secret"
STAYS: Final = "the provider sends back a secret in a form that cannot be removed, so nothing of it was written"


class Unscrubbable(Unusable):
    """A secret is in what would be written, in a form that cannot be replaced; so nothing is written."""


class Placeholders:
    """What stands for secrets: the same for equal ones, so that what is written can still be judged."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, secret: str) -> str:
        """Return what stands for a secret in a text: `[redacted]`, and `[redacted-2]` for the second one."""
        number = self._number(secret)
        return REDACTED if number == 1 else f"{REDACTED[:-1]}-{number}]"

    def within_id(self, secret: str) -> str:
        """Return what stands for a secret in an id or a name: of the same length, with the same punctuation."""
        number, room = str(self._number(secret)), sum([each not in "-_." for each in secret])
        digits = iter(_STEM + number.rjust(max(0, room - len(_STEM)), "0"))
        # Other punctuation might have to be escaped.
        return "".join([each if each in "-_." else next(digits, "0") for each in secret])

    def _number(self, secret: str) -> int:
        # Beyond the bound, secrets are removed all the same, but no longer distinguished.
        if secret not in self._numbers and len(self._numbers) < MAX_DISTINGUISHED:
            self._numbers[secret] = len(self._numbers) + 1
        return self._numbers.get(secret, MAX_DISTINGUISHED + 1)


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Removes the secrets of a run in all their encodings, and what is a secret by its shape, its name or its place.

    Equal secrets get equal placeholders and others different ones, within the lifetime of `placeholders`.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)
    placeholders: Placeholders = field(default_factory=Placeholders, repr=False, compare=False)

    def text(self, text: str, asked: str = "") -> str:
        """Return a text, which may be JSON, lines of JSON or an event stream, without secrets.

        What is a secret by its shape or name only and is in `asked`, the text of a request, is part of a test and
        stays. Raises Unscrubbable if a secret of the run cannot be removed.
        """
        # Imported here because it needs this module, and because commands print without it.
        from conformance.secrets.bodies import clean

        return clean(self, text, asked)

    def suspects(self, texts: Sequence[str]) -> frozenset[str]:
        """Return the texts that may have a secret; `text` returns all others as they are, and takes longer to."""
        from conformance.secrets.bodies import may_hold

        found: set[str] = set()
        for start in range(0, len(texts), _TOGETHER) if may_hold(self, texts) else ():
            some = texts[start : start + _TOGETHER]
            if may_hold(self, some):
                found.update(some)
        return frozenset(found)

    def name(self, name: str) -> str:
        """Return a name or an id without secrets; what stands for one has its length, and tells it from others."""
        from conformance.secrets.bodies import clean_name

        return clean_name(self, name)

    def check_bytes(self, data: bytes) -> None:
        """Raise Unscrubbable for data that hold a secret in an encoding that other programs cannot read as text."""
        if b"\0" in data and any(
            known(self.secrets, data[start:].decode(each, "replace")) for each in _WIDE for start in (0, 1)
        ):
            raise Unscrubbable(STAYS)


def known(secrets: Iterable[str], text: str) -> list[Found]:
    """Return where some secrets of the run are in a text, in order."""
    return merged(
        [Found(start, end, KNOWN, _identity(text[start:end], secret)) for start, end, secret in spans(secrets, text)]
    )


def _identity(found: str, secret: str) -> str:
    """Return what identifies a secret where it was found: one that only begins like a known one is another one."""
    begins_alike = found.startswith(secret[:MIN_LENGTH]) and len(found) >= len(secret) and not _ESCAPED.search(found)
    return found if begins_alike else secret


def merged(found: Iterable[Found]) -> list[Found]:
    """Return secrets in order, with those that overlap as one, which is of the kind of the first and longest."""
    result: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if result and each.start < result[-1].end:
            last = result[-1]
            result[-1] = last._replace(end=max(last.end, each.end))
        else:
            result.append(each)
    return result


def scrubber(
    values: Iterable[str] = (), urls: Iterable[str] = (), surroundings: Iterable[str] | None = None
) -> Scrubber:
    """Return the scrubber for some secrets, for those in some URLs, and for those of the environment and its proxies.

    A value in quotes or with blanks around it is a secret without them, too. `surroundings`: what `of_surroundings`
    found, if it was asked before.
    """
    # Imported here because it needs this module.
    from conformance.secrets.urls import secrets_of

    around = of_surroundings() if surroundings is None else surroundings
    found = [*values, *(part for url in urls for part in secrets_of(url)), *around]
    every = {form for value in found for form in (value, value.strip(), value.strip(" \t\r\n\"'"))}
    # The longest first: a secret may hold another one.
    return Scrubber(
        tuple(sorted([each for each in every if len(each) >= MIN_LENGTH], key=lambda each: (-len(each), each)))
    )


def of_surroundings() -> tuple[str, ...]:
    """Return the secrets of the environment and in the URLs of its proxies."""
    from conformance.secrets.urls import secrets_of

    variables = dict(os.environ)
    proxies = [value for name, value in variables.items() if name.lower().endswith("_proxy")]
    return (*[part for url in proxies for part in secrets_of(url)], *of_environment(variables))


def named_secrets(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables whose names say that they are secrets, such as those that a user passes on."""
    return tuple([value for name, value in variables.items() if names.is_secret_variable(name)])


def of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of the environment variables whose names say that they are secrets."""
    for value in named_secrets(environment):
        if len(value) >= _MIN_OF_ENVIRONMENT and not value.startswith(("/", "~")):
            yield value
