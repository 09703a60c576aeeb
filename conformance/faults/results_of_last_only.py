"""Of several results, the answer uses the last one only."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, results, set_text, text

SOURCE = "https://github.com/agno-agi/agno/issues/5116"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/results-paired", "probes/nonces")


def change(sent: Outgoing) -> Outgoing:
    """Remove the other results from the text of an answer."""
    found = [str(each.get("content")) for each in results(sent.request)]
    if len(found) > 1 and not calls(sent):
        whole = text(sent)
        for other in found[1:]:
            whole = whole.replace(other, "unknown")
        set_text(sent, whole)
    return sent
