"""Each delta of a stream repeats the whole content so far.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import STREAM, Outgoing
from conformance.faults._answers import answer

SOURCE = "https://github.com/QwenLM/qwen-code/pull/3896"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/deltas-not-cumulative",)


def change(sent: Outgoing) -> Outgoing:
    """Send the content from its beginning in each delta."""
    whole = ""
    for piece in answer(sent).pieces:
        if piece.text:
            whole += piece.text
            piece.holder[piece.key] = whole
    return sent
