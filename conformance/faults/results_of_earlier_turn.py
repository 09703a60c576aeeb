"""The answer names the result of an earlier turn.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import answer, earlier_results, results

SOURCE = "https://github.com/headroomlabs-ai/headroom/pull/1473"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the first result of this turn by one of an earlier turn."""
    now, said = results(sent), answer(sent)
    before = [each for each in earlier_results(sent) if each not in now]
    if now and before and not sent.calls():
        said.write(said.whole.replace(now[0], before[0]))
    return sent
