"""The content begins with the reasoning, which also has its own field.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import answer, reasoning

SOURCE = "https://github.com/adolfousier/opencrabs/issues/760"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("reasoning/not-in-content",)


def change(sent: Outgoing) -> Outgoing:
    """Put the reasoning before the content."""
    thought, said = reasoning(sent), answer(sent)
    if thought.whole and said.whole:
        said.write(f"{thought.whole}\n\n{said.whole}")
    return sent
