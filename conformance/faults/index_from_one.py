"""The index of streamed calls counts from 1, because the text before them has number 0."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/router-for-me/CLIProxyAPI/issues/5229"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/index-contiguous",)


def change(sent: Outgoing) -> Outgoing:
    """Add one to every index."""
    for fragment in sent.objects(lambda value: "function" in value and isinstance(value.get("index"), int)):
        fragment["index"] += 1
    return sent
