"""Every chunk of a stream reports usage, which clients add up."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ogx-ai/ogx/issues/5122"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("usage/reported-once",)


def change(sent: Outgoing) -> Outgoing:
    """Repeat the usage of the last chunk that has some."""
    chunks = [value for value in sent.values if "choices" in value]
    usage = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    for chunk in chunks if usage is not None else ():
        chunk["usage"] = usage
    return sent
