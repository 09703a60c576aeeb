from typing import Any

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, messages


@rule(
    Level.MUST,
    on=messages,
    where=lambda message, _context: message.is_prefill and type(_last_text(message.value)) is str,
    source=Source(
        "https://platform.claude.com/docs/en/api/errors", "final assistant content cannot end with trailing whitespace"
    ),
    bad=[example("messages-plain", {"/0/request/messages/-": {"role": "assistant", "content": "It is "}})],
    good=[example("messages-plain", {"/0/request/messages/-": {"role": "assistant", "content": "It is"}})],
    claim="messages.trailing-whitespace",
    wires=("messages",),
    reach=ELEMENT,
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """An assistant message at the end, which the model continues, does not end with white space.

    To fix it, cut the white space off the text, or end with a user message.
    """
    text = _last_text(message.value)
    if text == text.rstrip():
        return []
    return [Fault("expected text without white space at its end, got some", at=("content",))]


def _last_text(message: dict[str, Any]) -> Any:
    """Return the text that a message ends with; None if it ends with something else."""
    content = message.get("content")
    if type(content) is list and content:
        return content[-1].get("text") if type(content[-1]) is dict else None
    return content
