"""The response has another id at the end of a stream than at its beginning."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/39534"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/response-id-constant",)


def change(sent: Outgoing) -> Outgoing:
    """Change the id in the last event."""
    for event in sent.objects(lambda value: value.get("type") == "response.completed"):
        event["response"]["id"] += "0"
    return sent
