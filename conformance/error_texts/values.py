"""The values that an error lists as the ones that are accepted: they say which part of a request it is about."""

import re
from typing import Final

from conformance.error_texts.signs import value_lists
from conformance.error_texts.words import MAX_CHARACTERS

_VALUE: Final = r"['\"`‘’“”]?[\w/-]{1,40}['\"`‘’“”]?"
_BETWEEN: Final = r"(?:\s{0,3},\s{0,3}(?:and |or )?|\s{1,3}(?:and|or)\s{1,3})"
_LISTED: Final = re.compile(
    r"(?:(?:supported|allowed|valid) (?:values|levels|roles|options)(?: are)?|one of|expected(?: tags)?|should be)"
    rf":?\s{{1,3}}[\[(]?({_VALUE}(?:{_BETWEEN}{_VALUE}){{1,24}})",
    re.IGNORECASE,
)
_EACH: Final = re.compile(r"[\w/-]+")
_JOINING: Final = frozenset({"and", "or"})
_FEW: Final = 2
_DEPENDENT: Final = frozenset({"content.part-type", "params.range", "roles.unknown", "roles.unsupported"})
"""Causes of texts that are the same for every list."""


def cause_by_values(text: str) -> str:
    """Return the id of the cause of an error that lists accepted values; empty if it lists none that are known."""
    for found in _LISTED.finditer(text[:MAX_CHARACTERS].replace("\\", "")):
        given = [each.lower() for each in _EACH.findall(found[1]) if each.lower() not in _JOINING]
        for known in value_lists():
            others = [each for each in given if each not in known.values]
            if len(given) - len(others) >= _FEW and len(others) * 4 <= len(given):
                return known.cause
    return ""


def cause_of_listed(text: str, cause: str) -> str:
    """Return the id of the cause that the listed values say; the given one if it does not depend on them."""
    return (cause_by_values(text) or cause) if cause in _DEPENDENT else cause
