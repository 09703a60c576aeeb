"""Faults of messages whose content is a list of parts where the provider accepts only a string."""

from collections.abc import Callable
from typing import Any

from conformance.rules.context import Fault, messages
from conformance.wire.elements import Body


def parts_instead_of_text(
    request: Body, *roles: str, fits: Callable[[list[Any]], bool] = lambda _parts: True
) -> list[Fault]:
    """Return a fault for each message of these roles whose content is a list of parts, if `fits` holds for the list."""
    return [
        Fault(
            f"expected a string as the content of a {message['role']} message, got parts",
            at=("messages", number, "content"),
            values={"role": message["role"]},
        )
        for number, message in messages(request.value, *roles)
        if type(message.get("content")) is list and fits(message["content"])
    ]
