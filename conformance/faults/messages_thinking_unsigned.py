"""Thinking has no signature."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/sgl-project/sglang/issues/39752"
WIRES = ("messages",)
VARIANTS = BOTH
BREAKS = ("messages/reply-thinking-signed",)


def change(sent: Outgoing) -> Outgoing:
    """Remove each signature."""
    for holder in sent.objects(lambda value: value.get("type") == "thinking"):
        holder.pop("signature", None)
    if sent.events is None:
        return sent
    return sent._replace(events=tuple([each for each in sent.events if "signature" not in each.value.get("delta", ())]))
