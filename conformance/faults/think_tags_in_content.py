"""Reasoning stands in `<think>` tags at the beginning of the content."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/23852"
WIRES = ("chat",)
VARIANTS = (PLAIN,)
BREAKS = ("reasoning/no-think-tags-in-content", "reasoning/in-claimed-field")


def change(sent: Outgoing) -> Outgoing:
    """Move the reasoning, or some if there is none, into the content."""
    for choice in sent.body["choices"]:
        message = choice["message"]
        reasoning = message.pop("reasoning_content", None) or "The user asks a question."
        message["content"] = f"<think>\n{reasoning}\n</think>\n\n{message.get('content') or ''}"
    return sent
