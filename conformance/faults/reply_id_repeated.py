"""All replies have the same id."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/NVIDIA-NeMo/Switchyard/issues/502"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/id-unique-in-session",)


def change(sent: Outgoing) -> Outgoing:
    """Give each reply the id of the first."""
    first = next((chunk["id"] for each in sent.earlier for chunk in chunks(each)), None)
    for chunk in chunks(sent):
        chunk["id"] = first or chunk["id"]
    return sent
