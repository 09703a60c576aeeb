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
    found = _MODEL.match(model.lower().strip("*"))
    if found is None:
        return False
    version = _number(found["version"])
    begins = re.compile(rf"(?<![a-z]){found['family']}[\s-]*(?P<version>{_VERSION})", re.IGNORECASE)
    return any(_holds(version, text, each) for match in begins.finditer(text) for each in _listed(match, text))


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
