"""Members that a reply does not have are null."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import choices, messages

SOURCE = "https://platform.openai.com/docs/api-reference/chat/object"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Add what OpenAI documents as nullable."""
    for choice in choices(sent):
        choice.setdefault("logprobs", None)
    for message in messages(sent):
        message.setdefault("refusal", None)
    return sent
