"""The arguments of calls are written with other spaces, which mean nothing."""

import json

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://www.rfc-editor.org/rfc/rfc8259#section-2"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Write the arguments again."""
    for call in calls(sent):
        given = arguments(call)
        set_arguments(call, json.dumps(json.loads(given), indent=1, ensure_ascii=False) if given else given)
    return sent
