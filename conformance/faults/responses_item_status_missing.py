"""Items have no status."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/diegosouzapw/OmniRoute/issues/13964"
WIRES = ("responses",)
VARIANTS = BOTH
BREAKS = ("responses/items-complete",)


def change(sent: Outgoing) -> Outgoing:
    """Remove it from each message and each call."""
    for item in sent.objects(lambda value: value.get("type") in ("message", "function_call")):
        item.pop("status", None)
    return sent
