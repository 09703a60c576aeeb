"""Regular expressions of somebody else's schema, matched in linear time: Python's own engine can take for ever."""

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

MAX_PATTERN: Final = 4 * 1024 * 1024
"""Bytes of a compiled pattern: `(a{999}){99}` has twelve characters and takes five million."""

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


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern occurs in a text; True if that cannot be decided in linear time."""
    if not _LINEAR:
        return re.search(pattern, text) is not None
    is_match = _compiled(pattern)
    try:
        return is_match is None or is_match(text)
    except ValueError:
        return True


@remembered(MAX_KEPT, lambda _: 0, compiled_size)
def _compiled(pattern: str) -> Callable[[Any], bool] | None:
    try:
        options = jsonschema_rs.RegexOptions(size_limit=MAX_PATTERN)
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        return None
