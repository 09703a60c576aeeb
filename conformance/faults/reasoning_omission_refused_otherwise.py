"""A tool turn without its reasoning is refused in other words than the provider is known for."""

from conformance.faults import BOTH, REFUSED, Outgoing
from conformance.faults._chat import REASONING

SOURCE = "https://github.com/vllm-project/vllm/issues/38488"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("core/reasoning-omitted", "probes/absent-current-own", "probes/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Replace the text of the refusal."""
    turns = [each for each in sent.request.get("messages", ()) if each.get("tool_calls")]
    if any(not any(turn.get(name) for name in REASONING) for turn in turns):
        sent = sent._replace(body={"error": {"message": "Where is it?", "type": "invalid_request_error"}})
    return sent
