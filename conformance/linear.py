"""Regular expressions from files and schemas of others, matched in linear time: Python's own engine can take for ever.

The engine is that of jsonschema-rs (Rust's `regex`), which knows neither lookaround nor backreferences, and bounds the
size of what it compiles. Where jsonschema-rs has no wheel, Python's engine replaces it, without these bounds.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

try:
    import jsonschema_rs
except ImportError:
    _LINEAR = False
else:
    _LINEAR = True

_SIZE: Final = 1 << 18
"""Bytes of a compiled pattern: time grows with it as well as with the text."""


def occurs(pattern: str, text: str) -> bool:
    """Return whether a pattern occurs in a text; True if that cannot be decided in linear time."""
    if not _LINEAR:
        return re.search(pattern, text) is not None
    is_match = _compiled(pattern)
    try:
        return is_match is None or is_match(text)
    except ValueError:
        return True


def fits(pattern: str, text: str) -> bool:
    """Return whether a whole text matches a pattern, for which `fault` returned nothing; no lone surrogate does."""
    if not _LINEAR:
        return re.fullmatch(pattern, text) is not None
    is_match = _compiled(f"^(?:{pattern})$")
    try:
        return is_match is not None and is_match(text)
    except ValueError:
        return False


def fault(pattern: str) -> str:
    """Return what is wrong with a pattern that `fits` is to match; empty if nothing is."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    if _LINEAR and _compiled(f"^(?:{pattern})$") is None:
        return "it cannot be matched in linear time: it is too large, or has lookaround, a backreference or \\Z"
    return ""


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Callable[[Any], bool] | None:
    try:
        options = jsonschema_rs.RegexOptions(size_limit=_SIZE)
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        return None
