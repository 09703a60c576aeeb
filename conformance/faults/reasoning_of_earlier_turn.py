"""The reasoning of an earlier turn comes again."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import reasoning_field, set_text, text

SOURCE = "https://github.com/sgl-project/sglang/issues/29512"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/not-of-earlier-turn",)


def change(sent: Outgoing) -> Outgoing:
    """Send the reasoning of the first reply that had some."""
    field = reasoning_field(sent)
    for each in sent.earlier:
        if field and text(each, field):
            set_text(sent, text(each, field), field)
            break
    return sent
