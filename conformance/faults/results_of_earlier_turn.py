"""The answer names the result of an earlier turn."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, results, set_text, text

SOURCE = "https://github.com/headroomlabs-ai/headroom/pull/1473"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Replace each result of this turn by one of an earlier turn."""
    now = [str(each.get("content")) for each in results(sent.request)]
    before = [str(each["content"]) for each in sent.request.get("messages", ()) if each.get("role") == "tool"]
    before = [each for each in before if each not in now]
    if now and before and not calls(sent):
        set_text(sent, text(sent).replace(now[0], before[0]))
    return sent
