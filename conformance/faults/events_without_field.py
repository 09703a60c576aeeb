"""The lines of a stream are JSON without `data:`."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ollama/ollama/issues/11586"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("http/*", "stream/*", "native/*", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Remove the field."""
    lines = [each for each in sent.raw().split(b"\n") if each.startswith(b"data: {")]
    sent = sent._replace(content=b"\n".join([each.removeprefix(b"data: ") for each in lines]) + b"\n")
    return sent.with_headers(content_type="application/x-ndjson")
