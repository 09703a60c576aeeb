"""Thinking follows the text that it led to."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/router-for-me/CLIProxyAPI/issues/4628"
WIRES = ("messages",)
VARIANTS = (PLAIN,)
BREAKS = ("reasoning/before-content", "messages/thinking-first")


def change(sent: Outgoing) -> Outgoing:
    """Move the thinking to the end."""
    thinking = sent.objects(lambda value: value.get("type") == "thinking")
    sent.body["content"] = [*[each for each in sent.body["content"] if each not in thinking], *thinking]
    return sent
