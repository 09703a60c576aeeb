"""The answer never uses the result of the tool, which the server has dropped from the prompt.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import answer, results

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/27129"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Answer without any result."""
    if results(sent) and not sent.calls():
        answer(sent).write("I have no access to that, so I cannot say more.")
    return sent
