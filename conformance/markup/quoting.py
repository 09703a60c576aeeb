"""What a text only quotes: code, logs and templates are about markup, and do not leak it."""

import re
from typing import Final

_FENCE: Final = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?\n)??(?: {0,3}(?P=fence)[`~]*[ \t]*$|\Z)", re.M | re.S
)
_FENCE_INSIDE: Final = re.compile(r"```.*?(?:```|\Z)", re.S)
_SPAN: Final = re.compile(r"(?<!`)(?P<ticks>`{1,2})(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)", re.S)
_ELEMENT: Final = re.compile(
    r"<(?P<tag>code|pre|kbd|samp|blockquote)\b[^>]{0,200}>.*?(?:</(?P=tag)>|\Z)|<!--.*?(?:-->|\Z)", re.S
)
_LINES: Final = re.compile(
    r"^(?:> .*|(?: {4}|\t).*|.*(?:\{\{|\{%).*"
    r"|[ \t]*\[?\d{4}-\d\d-\d\d[T ]\d.*|[ \t]*\[?\d\d:\d\d:\d\d.*"
    r"|[ \t]*\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b.*)$",
    re.M,
)
"""Lines of a quotation, of indented code, of a template and of a log."""

QUOTED: Final = "\x00"
"""Stands in a masked text for each character of what is quoted, so that places stay the same."""


def masked(text: str) -> str:
    """Return a text of the same length in which everything that is quoted is replaced."""
    for pattern in (_FENCE, _FENCE_INSIDE) if "```" in text or "~~~" in text else ():
        text = pattern.sub(_mask, text)
    if "`" in text:
        text = _SPAN.sub(_mask, text)
    if "<" in text:
        text = _ELEMENT.sub(_mask, text)
    return _LINES.sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    return QUOTED * (found.end() - found.start())
