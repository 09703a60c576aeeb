"""The input of each streamed call lacks its end."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/QuantumNous/new-api/issues/7302"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the last fragment that ends an input."""
    for delta in sent.objects(lambda value: str(value.get("partial_json", "")).endswith("}")):
        delta["partial_json"] = ""
    return sent
