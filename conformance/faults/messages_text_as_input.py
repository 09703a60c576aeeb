"""The text of a streamed message comes as empty fragments of a call's input."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/issues/29286"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)
RELATED = ("messages/reply-text-not-empty", "response/message-not-empty")


def change(sent: Outgoing) -> Outgoing:
    """Replace each delta of text."""
    for event in sent.objects(lambda value: "text" in value.get("delta", ())):
        event["delta"] = {"type": "input_json_delta", "partial_json": ""}
    return sent
