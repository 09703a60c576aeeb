"""A message that has ended its turn has no content."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/issues/40477"
WIRES = ("messages",)
VARIANTS = BOTH
BREAKS = ("response/message-not-empty", "probes/results-paired")


def change(sent: Outgoing) -> Outgoing:
    """Remove all content of a message without calls."""
    if sent.calls():
        return sent
    if sent.events is None:
        sent.body["content"] = []
        return sent
    return sent._replace(events=tuple([each for each in sent.events if "index" not in each.value]))
