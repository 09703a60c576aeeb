"""Of several results, the answer uses the last one only.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import answer, results

SOURCE = "https://github.com/agno-agi/agno/issues/5116"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/results-paired", "probes/nonces")


def change(sent: Outgoing) -> Outgoing:
    """Remove the other results from the text of an answer."""
    found, said = results(sent), answer(sent)
    if len(found) > 1 and not sent.calls():
        whole = said.whole
        for other in found[:-1]:
            whole = whole.replace(other, "unknown")
        said.write(whole)
    return sent
