"""The input of each streamed call lacks its first characters."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/pull/34887"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the brace and the quotation mark that an input begins with."""
    for delta in sent.objects(lambda value: str(value.get("partial_json", "")).startswith('{"')):
        delta["partial_json"] = delta["partial_json"].removeprefix('{"')
    return sent
