"""A tool turn without its reasoning is answered, where the provider is known to refuse it."""

from conformance.faults import BOTH, REFUSED, Outgoing
from conformance.faults._chat import REASONING

SOURCE = "https://github.com/deepseek-ai/DeepSeek-V3/issues/1453"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("core/reasoning-omitted", "probes/absent-current-own")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Answer a refused request whose calls lack reasoning."""
    turns = [each for each in sent.request.get("messages", ()) if each.get("tool_calls")]
    good = [each for each in sent.earlier if each.status == 200]
    lacks = any(not any(turn.get(name) for name in REASONING) for turn in turns)
    return good[-1]._replace(request=sent.request) if good and lacks else sent
