"""Faults that several rules report alike: for two roles, two keys of a call, two counts of tokens."""

from collections.abc import Callable, Mapping
from typing import Any

from conformance.rules.context import Context, Fault
from conformance.wire.elements import Streamed, Usage


def parts_instead_of_text(
    context: Context, *roles: str, fits: Callable[[list[Any]], bool] = lambda _parts: True
) -> list[Fault]:
    """Return a fault for each message of a request with one of these roles whose content is a list of parts.

    Only those whose list `fits`.
    """
    return [
        Fault(
            f"expected a string as the content of a {message['role']} message, got parts",
            at=("messages", number, "content"),
            values={"role": message["role"]},
        )
        for number, message in context.messages(*roles)
        if type(message.get("content")) is list and fits(message["content"])
    ]


def sent_again(
    stream: Streamed, context: Context, what: str, kinds: Mapping[str, tuple[str, str]], key: str
) -> list[Fault]:
    """Return a fault for each later fragment that has the id or the name of its call.

    `what` is `id` or `name`, as in the claim `stream.continuation-<what>`, and `key` the key that holds it. `kinds`
    maps kinds of anomalies to the value of the claim that allows them, and to what was got; `{}` there stands for the
    detail of the anomaly.
    """
    anomalies = stream.value.anomalies
    return [
        Fault(
            f"expected the {what} only in the call's first fragment, got {got.replace('{}', anomaly.detail)}",
            at=(*anomaly.at, key),
        )
        for kind, (form, got) in kinds.items()
        if kind in anomalies and not context.claims_any(f"stream.continuation-{what}", form)
        for anomaly in anomalies[kind]
    ]


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
