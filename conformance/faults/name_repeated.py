"""Every fragment of a call repeats its name."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/NousResearch/hermes-agent/pull/11984"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/name-once",)


def change(sent: Outgoing) -> Outgoing:
    """Give every fragment the name of its call."""
    name = ""
    for fragment in sent.objects(lambda value: isinstance(value.get("function"), dict)):
        name = fragment["function"].get("name") or name
        fragment["function"]["name"] = name
    return sent
