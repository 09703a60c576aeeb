"""The answer names each result of parallel calls with the other call.

Results that come back in another order than their calls are assigned by position.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, results, set_text, text

SOURCE = "https://github.com/JustVugg/colibri/pull/118"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Exchange the first two results in the text of an answer."""
    found = [str(each.get("content")) for each in results(sent.request)]
    if len(found) > 1 and not calls(sent):
        first, second = found[:2]
        whole = text(sent).replace(first, "\0").replace(second, first).replace("\0", second)
        set_text(sent, whole)
    return sent
