"""A streamed message reports no tokens of its prompt."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/chenyme/grok2api/issues/612"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("usage/not-zero-beside-text",)


def change(sent: Outgoing) -> Outgoing:
    """Write 0."""
    for usage in sent.objects(lambda value: "input_tokens" in value):
        usage["input_tokens"] = 0
    return sent
