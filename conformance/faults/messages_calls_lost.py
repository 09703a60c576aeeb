"""A message has the stop reason of calls, but no call."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/earendil-works/pi/issues/9681"
WIRES = ("messages",)
VARIANTS = BOTH
BREAKS = ("response/finish-reason-matches-tool-calls",)
RELATED = ("response/message-not-empty",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the blocks of calls."""
    calls = sent.calls()
    if sent.events is None:
        sent.body["content"] = [each for each in sent.body["content"] if each not in calls]
        return sent
    starts = sent.objects(lambda value: value.get("content_block") in calls)
    indexes = [each["index"] for each in starts]
    return sent._replace(events=tuple([each for each in sent.events if each.value.get("index") not in indexes]))
