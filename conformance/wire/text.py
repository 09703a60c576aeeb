"""The text of a message's content, and values as messages quote them."""

from typing import Any


def content_text(content: Any) -> str:
    """Return the text of a content, with that of its parts joined; empty if it has none."""
    if type(content) is list:
        texts = (part.get("text") for part in content if type(part) is dict)
        return "".join(text for text in texts if type(text) is str)
    return content if type(content) is str else ""


def said_text(content: Any) -> str:
    """Return the text of a content without the parts of it that hold something else, such as reasoning."""
    if type(content) is list:
        content = [part for part in content if type(part) is dict and part.get("type") == "text"]
    return content_text(content)


def quoted_difference(old: str, new: str) -> tuple[str, str]:
    """Return two texts as findings quote them, without most of what they have in common at the beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    start = next((at for at, (left, right) in pairs if left != right), min(len(old), len(new))) - 10
    if start <= 10:
        return quoted(old), quoted(new)
    return quoted(f"…{old[start:]}"), quoted(f"…{new[start:]}")


def quoted(value: Any) -> str:
    """Return a value as findings quote it: in Python's notation, cut to 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
