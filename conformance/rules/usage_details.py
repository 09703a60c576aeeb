"""Counts of tokens that are part of another count: the cached ones of a prompt, the reasoning of a completion."""

from typing import Any

from conformance.rules.context import Fault
from conformance.wire.elements import Usage


def detail(usage: Usage, whole: str, name: str) -> Any:
    """Return a count from the breakdown of `prompt` or `completion` tokens; None if there is none."""
    details = usage.value.get(f"{whole}_tokens_details")
    return details.get(f"{name}_tokens") if type(details) is dict else None


def can_be_compared(usage: Usage, whole: str, name: str) -> bool:
    """Return whether both the tokens and this count of their breakdown are integers."""
    return type(detail(usage, whole, name)) is int and type(usage.value.get(f"{whole}_tokens")) is int


def more_than_whole(usage: Usage, whole: str, name: str) -> list[Fault]:
    """Return a fault if a count of the breakdown is larger than the tokens that it is a part of."""
    got, most = detail(usage, whole, name), usage.value[f"{whole}_tokens"]
    if got <= most:
        return []
    message = f"expected at most {most}, the {whole} tokens, got {got}"
    return [Fault(message, at=(f"{whole}_tokens_details", f"{name}_tokens"))]
