"""A request gets the cached answer to another one with the same tools and the same number of messages."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/headroomlabs-ai/headroom/pull/1473"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/results-paired", "probes/twins-agree")


def change(sent: Outgoing) -> Outgoing:
    """Send an earlier reply again if one has the same shape."""
    number = len(sent.request.get("messages", ()))
    for each in sent.earlier:
        alike = len(each.request.get("messages", ())) == number and each.status == sent.status
        if alike and each.variant == sent.variant and each.request != sent.request:
            return each._replace(request=sent.request, earlier=sent.earlier)
    return sent
