"""Regular expressions from files and schemas of others, matched in linear time: Python's own engine can take for ever.

The engine is that of jsonschema-rs (Rust's `regex`), which knows neither lookaround nor backreferences, and bounds the
size of what it compiles. Where jsonschema-rs has no wheel, Python's engine replaces it, without these bounds.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from conformance.caches import remembered

try:
    import jsonschema_rs
except ImportError:
    _LINEAR = False
else:
    _LINEAR = True

_SIZE: Final = 1 << 18
"""Bytes of a compiled pattern: time grows with it as well as with the text."""

MAX_PATTERN: Final = 4 * 1024 * 1024
"""Bytes of a compiled pattern in a schema: `(a{999}){99}` has twelve characters and takes five million."""

MAX_KEPT: Final = 32 * 1024 * 1024
"""Bytes that compiled patterns may take together, as `compiled_size` estimates them; and so may compiled schemas."""

_COUNT: Final = re.compile(r"(\)?)\{(\d{1,5})(?:,(\d{1,5}))?")
_PER_REPETITION: Final = 1024
_PER_CHARACTER: Final = 400
_FIXED: Final = 32 * 1024


def compiled_size(text: str) -> int:
    """Return about how many bytes a pattern takes once it is compiled.

    What is repeated is compiled as often as it may come; a repeated group repeats all that is counted in it.
    """
    plain, groups = 0, 1
    for closes, least, most in _COUNT.findall(text):
        number = max(int(least), int(most or 0), 1)
        if closes:
            groups = min(groups * number, MAX_PATTERN)
        else:
            plain += number
    repeated = min(plain * groups * _PER_REPETITION, MAX_KEPT)
    return repeated + _PER_CHARACTER * len(text) + _FIXED


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


@remembered(MAX_KEPT, lambda _: 0, compiled_size)
def _compiled(pattern: str) -> Callable[[Any], bool] | None:
    try:
        options = jsonschema_rs.RegexOptions(size_limit=_SIZE)
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        return None
