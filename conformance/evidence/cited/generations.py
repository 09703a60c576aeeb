"""Whether a text names a model by its generation: "Gemini 2.5 and older", "GPT-5.x", "Opus 4.5, 4.6"."""

import re
from collections.abc import Iterator
from typing import Final

_MODEL: Final = re.compile(r"(?:.*[./])?(?:claude-)?(?P<family>[a-z]+)-?(?P<version>\d{1,2}(?:[.-]\d{1,2})?)(?!\d)")
_VERSION: Final = r"\d{1,2}(?:[.-](?:\d{1,2}|x))?(?![\d])"
_LATER: Final = re.compile(r"\+|\s+(?:and|or)\s+(?:later|newer|up|above)")
_EARLIER: Final = re.compile(r"\s+(?:and|or)\s+(?:older|earlier|below)")
_NEXT: Final = re.compile(rf"[a-z-]*(?:\s*[,/]\s*(?:and\s+)?|\s+(?:and|or)\s+)(?P<version>{_VERSION})")


def names_generation(model: str, text: str) -> bool:
    """Return whether a text names versions of the model's family among which the model is.

    `model` is a name in lower case; a star at its end does not count.
    """
    return any(_compared(model, text))


def names_another(model: str, text: str) -> bool:
    """Return whether a text names versions of the model's family, and the model is none of them."""
    found = list(_compared(model, text))
    return bool(found) and not any(found)


def _compared(model: str, text: str) -> Iterator[bool]:
    """Yield for each version of the model's family that a text names whether it is the model's, or includes it."""
    found = _MODEL.match(model.lower().strip("*"))
    if found is None:
        return
    version = _number(found["version"])
    begins = re.compile(rf"(?<![a-z]){found['family']}[\s-]*(?P<version>{_VERSION})", re.IGNORECASE)
    for match in begins.finditer(text):
        yield from (_holds(version, text, each) for each in _listed(match, text))


def _listed(match: re.Match[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the versions of a list, of which only the first stands behind the family's name."""
    each: re.Match[str] | None = match
    while each is not None:
        yield each
        each = _NEXT.match(text, each.end())


def _holds(version: tuple[int, ...], text: str, match: re.Match[str]) -> bool:
    named = _number(match["version"])
    if match["version"].endswith("x"):
        return version[:1] == named[:1]
    if _LATER.match(text, match.end()):
        return version >= named
    if _EARLIER.match(text, match.end()):
        return version <= named
    return version == named


def _number(text: str) -> tuple[int, ...]:
    return tuple([int(part) for part in re.split(r"[.-]", text) if part.isdigit()])
