"""A request whose calls share an id is answered, where the provider is known to refuse it."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/craft-ai-agents/craft-agents-oss/issues/630"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("core/tool-call-ids", "probes/ids-colliding")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Answer a refused request with an id that comes twice."""
    made = [call.get("id") for each in sent.request.get("messages", ()) for call in each.get("tool_calls") or ()]
    good = [each for each in sent.earlier if each.status == 200]
    return good[-1]._replace(request=sent.request) if good and len({*made}) < len(made) else sent
