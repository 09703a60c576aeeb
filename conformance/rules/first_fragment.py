"""Faults of streamed tool calls that send again what belongs only in a call's first fragment."""

from collections.abc import Mapping

from conformance.rules.context import Context, Fault
from conformance.wire.elements import Streamed


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
