"""The error of a refusal is a text in place of an object."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/nugget/thane-ai-agent/pull/1229"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("error/body-shape", "error/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Send the text of the error alone."""
    if isinstance(sent.body, dict) and isinstance(sent.body.get("error"), dict):
        sent.body["error"] = str(sent.body["error"].get("message"))
    return sent
