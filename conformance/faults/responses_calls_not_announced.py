"""The events of calls are missing; only the response at the end of the stream has the calls."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/issues/48274"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the events, and number the others again."""
    calls = {each["id"] for each in sent.calls()}
    kept = [
        each
        for each in sent.events or ()
        if not calls & {each.value.get("item_id"), each.value.get("item", {}).get("id")}
    ]
    for number, event in enumerate(kept):
        event.value["sequence_number"] = number
    return sent._replace(events=tuple(kept))
