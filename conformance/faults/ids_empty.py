"""The ids of all calls are empty."""

from conformance.faults import BOTH, ID_KEYS, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/33223"
WIRES = ("chat", "messages", "responses")
VARIANTS = BOTH
BREAKS = ("tool-calls/id-not-empty",)
RELATED = ("native/reply-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Empty every id."""
    for call in sent.calls():
        call[ID_KEYS[sent.wire]] = ""
    return sent
