"""The last chunk of a stream repeats the whole text."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/maximhq/bifrost/issues/2251"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("stream/last-delta-not-whole",)


def change(sent: Outgoing) -> Outgoing:
    """Append the text of all chunks to the last one."""
    texts = sent.objects(lambda value: "text" in value and not value.get("thought"))
    if texts:
        whole = "".join([each["text"] for each in texts])
        last = sent.values[-1]["candidates"][0]["content"]
        last["parts"].append({"text": whole})
    return sent
