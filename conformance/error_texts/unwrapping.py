"""Finds what the host said in what a gateway, an SDK or a log made of it."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

MAX_SHOWN: Final = 300
"""How many characters of an error are shown."""

_MAX_DEPTH: Final = 8
_MAX_PARSED: Final = 65_536
"""Longer texts are shown as they are: no host explains itself at this length."""

_INNER: Final = (
    "raw",
    "upstreamResponse",
    "base_resp",
    "status_msg",
    "responseBody",
    "cause",
    "error",
    "errors",
    "message",
    "msg",
    "detail",
    "body",
    "data",
)
"""The keys below which hosts and gateways put an error, those of gateways first."""

_OUTER: Final = re.compile(
    r"^(?:error from provider: )?(?:provider returned error|param incorrect|error)\.?$", re.IGNORECASE
)
_STATUS: Final = re.compile(
    r"(?:^|\b(?:status(?:[ _-]?code)?|http(?:/[\d.]+)?|error(?: code)?|api error|returned|code)\W{0,4})([45]\d\d)\b"
    r"|\b([45]\d\d)(?: (?:- )?|, message=')(?:bad (?:request|gateway)|unauthorized|payment required|forbidden|not found"
    r"|method not allowed|conflict|payload too large|unprocessable|too many requests|internal server"
    r"|service unavailable|gateway time)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"[\"'](?:code|type|status|name|__type)[\"']\s*:\s*[\"']([\w.-]{3,60})[\"']")
_EXCEPTION: Final = re.compile(r"\(?\b(\w{3,50}Exception)\b\)?")


def as_text(value: Any) -> str:
    """Return the body of an error as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def status_in(text: str) -> int | None:
    """Return the first HTTP status of an error that a text names as one; None if it names none."""
    found = _STATUS.search(text[:_MAX_PARSED])
    return int(found[1] or found[2]) if found else None


def codes_in(text: str) -> frozenset[str]:
    """Return the codes and types of errors in a text, in lower case."""
    text = text[:_MAX_PARSED].replace("\\", "")
    return frozenset(found[1].lower() for pattern in (_CODE, _EXCEPTION) for found in pattern.finditer(text))


def said(value: Any) -> str:
    """Return what the host said in one line of at most `MAX_SHOWN` characters: the innermost message of an error."""
    line = " ".join(innermost(value).split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


def innermost(value: Any) -> str:
    """Return the innermost message of an error that says anything; all of it if it has no message."""
    return next((text for text in _messages(value, 0) if not _OUTER.match(text)), as_text(value))


def _messages(value: Any, depth: int) -> Iterator[str]:
    """Yield the messages in an error, the innermost first."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, bytes | str):
        text = as_text(value).strip()
        inside = _parsed(text)
        if inside is not None:
            yield from _messages(inside, depth + 1)
        elif text:
            yield text
    elif isinstance(value, Mapping):
        metadata = value.get("metadata")
        for each in ([metadata] if isinstance(metadata, Mapping) else []) + [value.get(key) for key in _INNER]:
            yield from _messages(each, depth + 1)
        if isinstance(param := value.get("param"), str) and " " in param:
            yield param
    elif isinstance(value, list):
        for each in value[:_MAX_DEPTH]:
            yield from _messages(each, depth + 1)


def _parsed(text: str) -> Any:
    """Return the JSON or Python value that a text is or ends with; None if it has none."""
    starts = [at for at in (text.find("{"), text.find("[{")) if at >= 0]
    if not starts or len(text) > _MAX_PARSED:
        return None
    inner = text[min(starts) :]
    for end in (len(inner), inner.rfind("}") + 1, inner.rfind("]") + 1):
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(inner[:end])
            except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                continue
            if isinstance(found, dict | list):
                return found
    return None
