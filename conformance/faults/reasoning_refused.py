"""A request that sends reasoning back is refused, though the provider takes it."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING

SOURCE = "https://github.com/charmbracelet/crush/issues/1590"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended", "core/reasoning-omitted")


def change(sent: Outgoing) -> Outgoing:
    """Refuse requests with reasoning."""
    turns = [each for each in sent.request.get("messages", ()) if any(each.get(name) for name in REASONING)]
    if turns:
        message = "Extra inputs are not permitted: reasoning_content"
        sent = sent._replace(
            status=422, events=None, body={"error": {"message": message, "type": "invalid_request_error"}}
        )
        sent = sent.with_headers(content_type="application/json")
    return sent
