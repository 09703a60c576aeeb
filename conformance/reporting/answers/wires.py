"""The wires of a provider: their order and titles, and what reasoning is called on each."""

from collections.abc import Iterable, Mapping
from typing import Final

from conformance import wires
from conformance.wire.native import CHAT, NATIVE

_ORDER: Final = (CHAT, "messages", "responses", "gemini")

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
    return _ORDER.index(wire) if wire in _ORDER else len(_ORDER)


def titles() -> Mapping[str, str]:
    """Return the title of each wire by its name, in their order."""
    found = {CHAT: "Chat completions"} | {name: wires.by_name(name).title for name in NATIVE}
    return {name: found[name] for name in in_order(found)}


def in_order(wires: Iterable[str]) -> tuple[str, ...]:
    """Return wires in the order of their columns, each once."""
    return tuple(sorted(set(wires), key=lambda wire: (position(wire), wire)))
