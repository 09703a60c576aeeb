"""What the rules about the Open Responses specification share: the claim that it holds, and its schema."""

from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.rules.context import Claimed, Fault
from conformance.schemas import SchemaError, validator

CLAIM: Final = "responses.open-responses"
FOLLOWED: Final = {CLAIM: True}
SPECIFICATION: Final = "https://www.openresponses.org/specification"
DOCUMENT: Final = "https://www.openresponses.org/openapi/openapi.json"


def is_followed(claimed: Claimed) -> bool:
    """Return whether the provider is held to the specification."""
    return claimed.claim(CLAIM) is True


def faults(form: str, value: Any) -> list[Fault]:
    """Return where a value departs from a form of the specification: response, event, error-body, request."""
    judge_form = validator(f"wires/responses/open-responses#/$defs/{form}")
    if judge_form.is_valid(value):
        return []
    found = judge_form.errors(value)
    missing: dict[Place, list[str]] = {}
    for error in found:
        if error.missing:
            missing.setdefault(error.place, []).append(error.missing)
    # A server that never heard of a member lacks a dozen: one finding names them all.
    listed = [Fault(f"expected {_named(names)}, got none", at=place) for place, names in missing.items()]
    return listed + [Fault(_message(error), at=error.place) for error in found if not error.missing]


def _message(error: SchemaError) -> str:
    if error.keyword != "anyOf" or error.place[-1:] != ("type",):
        return error.message
    given = error.message.rpartition(", got ")[2]
    return f"expected a type of the specification, or one that begins with the provider's name and a colon, got {given}"


def _named(names: list[str]) -> str:
    return f"the key{'s' if len(names) > 1 else ''} {', '.join(names)}"
