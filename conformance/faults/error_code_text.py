"""The code of an error is its status as text."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/38842"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("error/code-and-param-types", "error/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Write the status as text."""
    if isinstance(sent.body, dict) and isinstance(sent.body.get("error"), dict):
        sent.body["error"]["code"] = 400
    return sent
