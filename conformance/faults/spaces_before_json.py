"""White space stands before a plain reply, as a proxy sends it to keep the connection open."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/deepseek-ai/DeepSeek-V3/issues/1053"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (PLAIN,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Put blank lines before the body."""
    return sent._replace(content=b"\n\n\n" + sent.raw())
