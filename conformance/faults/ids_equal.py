"""All calls of a reply have the same id."""

from conformance.faults import BOTH, ID_KEYS, Outgoing

SOURCE = "https://github.com/HKUDS/nanobot/issues/3943"
WIRES = ("chat", "messages", "responses")
VARIANTS = BOTH
BREAKS = ("tool-calls/id-unique-in-reply",)


def change(sent: Outgoing) -> Outgoing:
    """Give every call the id of the first."""
    calls, key = sent.calls(), ID_KEYS[sent.wire]
    for call in calls:
        call[key] = calls[0][key]
    return sent
