"""The ids of calls begin again at call_0 in every reply."""

from conformance.faults import BOTH, ID_KEYS, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/issues/50295"
WIRES = ("chat", "messages", "responses")
VARIANTS = BOTH
BREAKS = ("tool-calls/id-unique-in-conversation", "tool-calls/id-in-claimed-format")
RELATED = ("tool-calls/id-in-claimed-format",)


def change(sent: Outgoing) -> Outgoing:
    """Replace each id by one that numbers the calls of this reply alone."""
    calls, key = sent.calls(), ID_KEYS[sent.wire]
    numbers = {found: position for position, found in enumerate(dict.fromkeys([call[key] for call in calls]))}
    for call in calls:
        call[key] = f"call_{numbers[call[key]]}"
    return sent
