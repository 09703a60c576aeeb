"""The fragments of streamed calls have no index."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/vercel/ai/issues/7238"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/index-present",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the index of every fragment."""
    for fragment in sent.objects(lambda value: "function" in value):
        fragment.pop("index", None)
    return sent
