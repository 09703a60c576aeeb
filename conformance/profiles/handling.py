"""What a claim says that a provider does with a deviation: accepted, ignored, damaged, unknown, or a refusal."""

from collections.abc import Mapping
from typing import Any, Final

REFUSING: Final = frozenset({"verdict", "bound", "constraint", "kinds"})
"""The kinds of claims about a deviation: only a request that has it shows them, by its answer."""


def rejects_or_damages(handling: Any) -> bool:
    """Return True if the provider is known to reject the deviation, or to corrupt its reply because of it."""
    return handling == "damaged" if type(handling) is str else isinstance(handling, Mapping)


def tolerates(handling: Any) -> bool:
    """Return True if the provider is known to accept or ignore the deviation."""
    return handling in ("accepted", "ignored")
