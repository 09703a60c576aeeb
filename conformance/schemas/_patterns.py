"""Regular expressions of somebody else's schema, matched in linear time: Python's own engine can take for ever."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

try:
    import jsonschema_rs
except ImportError:
    _LINEAR = False
else:
    _LINEAR = True


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern occurs in a text; True if that cannot be decided in linear time."""
    if not _LINEAR:
        return re.search(pattern, text) is not None
    is_match = _compiled(pattern)
    try:
        return is_match is None or is_match(text)
    except ValueError:
        return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Callable[[Any], bool] | None:
    try:
        options = jsonschema_rs.RegexOptions()
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        return None
