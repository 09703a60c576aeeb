"""What a provider refuses of a request, by its claims: the findings of the one rule set that bear an answer."""

from collections.abc import Sequence

from conformance.results import Outcome, Refusal


def first_refusal(outcomes: Sequence[Outcome], exchange: int = 0) -> Refusal | None:
    """Return what a provider answers to the request of an exchange: of all refusals the one that stands first in it."""
    return next(iter(refusals(outcomes, exchange)), None)


def refusals(outcomes: Sequence[Outcome], exchange: int) -> list[Refusal]:
    """Return every refusal of the request of an exchange, in the order in which their causes stand there."""
    found = [
        (place, finding.refusal)
        for outcome in outcomes
        for finding in outcome.findings
        if finding.refusal is not None and (place := _position(finding.at))[:1] == (exchange,)
    ]
    return [refusal for _, refusal in sorted(found, key=lambda each: each[0])]


def _position(pointer: str) -> tuple[int, ...]:
    return tuple([int(token) for token in pointer.split("/") if token.isdecimal()])
