"""Each chunk of a stream has an id of its own."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/vllm-project/vllm/pull/50782"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/chunk-id-constant",)


def change(sent: Outgoing) -> Outgoing:
    """Add a number to each id."""
    for number, chunk in enumerate(chunks(sent)):
        chunk["id"] = f"{chunk['id']}-{number}"
    return sent
