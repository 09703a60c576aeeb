from typing import Any

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule, unless_faulty
from conformance.wire.elements import Body
from conformance.wire.reasoning import TEXT_KEYS
from conformance.wire.text import quoted
from conformance.wire.views import requests

_OTHER_KEYS = frozenset(TEXT_KEYS[1:])
_TURN = "/0/request/messages/1"
_SAME = {f"{_TURN}/reasoning_content": "The tool knows.", f"{_TURN}/reasoning": "The tool knows."}


@rule(
    Level.SHOULD,
    on=requests,
    reach=ELEMENT,
    settled=unless_faulty,
    source=Source("schemas/canonical/transcript.json", "If two fields hold reasoning, both hold the same text"),
    bad=[
        example("tool-result", _SAME | {f"{_TURN}/reasoning": "It is not known."}),
        example(
            "tool-result",
            _SAME | {f"{_TURN}/reasoning_text": "It is not known."},
            {"reasoning.request-field": ["reasoning_content", "reasoning_text"]},
        ),
    ],
    good=[example("tool-result", _SAME)],
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """An assistant message of a request that has reasoning in two fields has the same text in both.

    A provider reads one of them, so what the model remembers depends on the provider. A reply that came like this is
    the provider's fault. To fix it, send one field, or fill both from one text.
    """
    differing = [
        (number, texts)
        for number, message in context.assistants
        if not _OTHER_KEYS.isdisjoint(message)
        and len(texts := _texts(message)) > 1
        and any(text != texts[0][1] for _, text in texts)
    ]
    faults = []
    for number, texts in differing:
        first, expected = texts[0]
        other, got = next((key, text) for key, text in texts if text != expected)
        values = dict(texts)
        if not context.index.was_received(context.number, tuple(map(values.get, TEXT_KEYS)), *TEXT_KEYS):
            message = f"expected {quoted(expected)} as under {first}, got {quoted(got)}"
            faults.append(Fault(message, at=("messages", number, other)))
    return faults


def _texts(message: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields of a message that hold the text of its reasoning, each with its value."""
    return [(key, message[key]) for key in TEXT_KEYS if message.get(key)]
