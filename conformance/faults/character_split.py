"""A character beyond ASCII is cut off after its first byte, so that a stream is not UTF-8."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ggml-org/llama.cpp/pull/28926"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/utf8-valid", "responses/deltas-add-up", "probes/arguments-echoed", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Keep one byte of the first character that has more."""
    whole = sent.raw()
    first = next((at for at, byte in enumerate(whole) if byte >= 0xC0), None)
    if first is None:
        return sent
    rest = next((at for at in range(first + 1, len(whole)) if not 0x80 <= whole[at] < 0xC0), len(whole))
    return sent._replace(content=whole[: first + 1] + whole[rest:])
