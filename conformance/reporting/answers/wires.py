"""The wires of a provider: their order and titles, and what reasoning is called on each."""

from collections.abc import Iterable, Mapping
from typing import Final

from conformance import wires

TRANSLATED: Final = "reasoning_details"
"""What the translations of all other wires call reasoning."""

REASONING: Final[Mapping[str, str]] = {
    "gemini": "thought parts",
    "messages": "thinking blocks",
    "responses": "reasoning items",
}
"""What the reasoning of a reply is called on its own wire."""


def position(wire: str) -> int:
    """Return the place of a wire among the columns of a provider: chat completions first, unknown wires last."""
    return wires.NAMES.index(wire) if wire in wires.NAMES else len(wires.NAMES)


def titles() -> Mapping[str, str]:
    """Return the title of each wire by its name, in their order."""
    return {wire.name: wire.title for wire in wires.load()}


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return wires in the order of their columns, each once."""
    return tuple(sorted(set(names), key=lambda wire: (position(wire), wire)))
