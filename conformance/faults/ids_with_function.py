"""The ids of calls are the name of the function and a number, where the provider claims another format."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/MoonshotAI/kimi-cli/issues/2405"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/id-in-claimed-format", "core/tool-call-ids")


def change(sent: Outgoing) -> Outgoing:
    """Replace each id."""
    for number, call in enumerate(calls(sent)):
        if call[0].get("id"):
            call[0]["id"] = f"functions.{call[0]['function']['name']}:{number}"
    return sent
