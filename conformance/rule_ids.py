"""Rule ids over time: an id that was renamed still names its rule.

Everything that takes a rule id from outside asks here: selection, results, baselines, scenarios and explanations.
"""

from fnmatch import fnmatchcase
from typing import Final

RENAMED: Final = {
    "stream/not-cut": "stream/complete",
}
"""Former ids of rules and loop facts, each with the id that it has now."""

_FORMER: Final = {new: tuple(old for old, name in RENAMED.items() if name == new) for new in RENAMED.values()}


def current_id(name: str) -> str:
    """Return the current id of a rule or loop fact; a name that is not a former id is returned unchanged."""
    return RENAMED.get(name, name)


def all_ids(rule: str) -> tuple[str, ...]:
    """Return the current id of a rule, then its former ids."""
    return rule, *_FORMER.get(rule, ())


def matches(pattern: str, rule: str) -> bool:
    """Return True if a glob matches the current id of a rule or one of its former ids."""
    return any(fnmatchcase(each, pattern) for each in all_ids(rule))
