"""A candidate has a finish reason, and no content."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/agentjido/req_llm/issues/944"
WIRES = ("gemini",)
VARIANTS = (PLAIN,)
BREAKS = ("gemini/content-present",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the content of a candidate that calls."""
    for candidate in sent.objects(lambda value: "content" in value):
        if any("functionCall" in each for each in candidate["content"]["parts"]):
            del candidate["content"]
            candidate["finishReason"] = "UNEXPECTED_TOOL_CALL"
    return sent
