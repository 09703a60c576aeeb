"""What discovery found of one claim: its value, how sure it is, and the exchange that shows it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

HIGH: Final = "high"
MEDIUM: Final = "medium"
LOW: Final = "low"


class Found(NamedTuple):
    """The value of a claim, the digest of the exchange that shows it first, the confidence, and a note."""

    value: Any
    digest: str
    confidence: str = HIGH
    note: str = ""


Claims: TypeAlias = dict[str, Found]
"""What was found, by claim."""


def values(found: Mapping[str, Found]) -> dict[str, Any]:
    """Return the values alone."""
    return {name: each.value for name, each in found.items()}
