"""A request gets the cached answer to another one with the same tools and the same number of messages.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/headroomlabs-ai/headroom/pull/1473"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/results-paired", "probes/twins-agree")


def change(sent: Outgoing) -> Outgoing:
    """Send an earlier reply again if one has the same shape."""
    for each in sent.earlier:
        alike = _length(each) == _length(sent) and each.status == sent.status
        if alike and each.variant == sent.variant and each.request != sent.request:
            return each._replace(request=sent.request, earlier=sent.earlier)
    return sent


def _length(sent: Outgoing) -> int:
    """Return the number of messages, items or contents in the request."""
    return sum(len(sent.request.get(key, ())) for key in ("messages", "input", "contents"))
