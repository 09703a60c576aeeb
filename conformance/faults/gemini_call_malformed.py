"""Instead of a call comes the finish reason MALFORMED_FUNCTION_CALL, with empty content."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/vercel/ai/pull/5039"
WIRES = ("gemini",)
VARIANTS = BOTH
BREAKS = ("gemini/content-present",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the candidates that call."""
    for candidate in sent.objects(lambda value: "content" in value):
        if any("functionCall" in each for each in candidate["content"]["parts"]):
            candidate |= {"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}
    return sent
