"""The text of a message's content, and values as messages quote them."""

from typing import Any


def content_text(content: Any) -> str:
    """Return the text of a content, with that of its parts joined; empty if it has none."""
    if type(content) is list:
        texts = (part.get("text") for part in content if type(part) is dict)
        return "".join(text for text in texts if type(text) is str)
    return content if type(content) is str else ""


def quoted(value: Any) -> str:
    """Return a value as findings quote it: in Python's notation, cut to 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
