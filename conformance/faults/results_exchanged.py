"""The answer names each result of parallel calls with the other call.

Results that come back in another order than their calls are assigned by position.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import answer, results

SOURCE = "https://github.com/JustVugg/colibri/pull/118"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Exchange the first two results in the text of an answer."""
    found, said = results(sent), answer(sent)
    if len(found) > 1 and not sent.calls():
        first, second = found[:2]
        said.write(said.whole.replace(first, "\0").replace(second, first).replace("\0", second))
    return sent
