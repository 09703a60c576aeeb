"""The answer never uses the result of the tool, which the server has dropped from the prompt."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, results, set_text

SOURCE = "https://github.com/vllm-project/vllm/issues/39614"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Answer without any result."""
    if results(sent.request) and not calls(sent):
        set_text(sent, "I have no access to that, so I cannot say more.")
    return sent
