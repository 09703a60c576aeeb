"""The status and the body of a failure that an agent stored as text."""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.documents import parse_json
from conformance.errors import InvalidDocument

_STATUS: Final = re.compile(
    r"(?:\bstatus(?:[ _]?code)?\W{0,4}|\berror:?\s+|\bHTTP(?:/[0-9.]+)?\s+|\bcode\W{1,4}|\A\s*)([45][0-9]{2})\b",
    re.IGNORECASE,
)
_STATUSES: Final = range(400, 600)
_MAX_TEXT: Final = 1 << 16
_KNOWN: Final = {
    "prompt is too long": 400,
    "credit balance is too low": 400,
    "invalid api key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "rate_limit": 429,
    "rate limit": 429,
    "overloaded": 529,
    "invalid_request": 400,
    "bad request": 400,
    "badrequest": 400,
}
"""By words of a text that names no status: the status that hosts send with it."""
_LOCAL: Final = re.compile(
    r"\babort|\bcancel|\binterrupt|\btime(?:d[ -]?)?out\b|\bconnect|\bnetwork|\bsocket|\bfetch failed"
    r"|(?-i:\bE[A-Z]{4,}\b)|\bgetaddrinfo|\bcertificate|\bterminated\b|\boutput limit"
    r"|\b(?:no|missing|set) (?:an? )?(?:api[ _-]?key|model)|\bassistant messages\.",
    re.IGNORECASE,
)
"""Words of failures in which no host answered."""


def failure(
    text: Any, status: Any = None, body: Any = None, *, is_call: bool = False
) -> tuple[int | None, Mapping[str, Any]] | None:
    """Return the status and the body of a failure; None if no host answered, as when a request was aborted.

    `text`: as the agent shows it, such as `400 {"error": …}`; `status` and `body` as it stored them beside, if it did.
    `is_call`: whether the agent says that a call of a model failed, so that a text without a status is the host's too.
    """
    shown = text[:_MAX_TEXT] if isinstance(text, str) else ""
    found = _body(body) or _body(shown)
    if not (isinstance(status, int) and status in _STATUSES):
        status = _status(shown, found)
    if status is None and (not is_call or not shown or _LOCAL.search(shown)):
        return None
    return status, found or {"error": {"message": shown}}


def _status(text: str, body: Mapping[str, Any] | None) -> int | None:
    error = (body or {}).get("error")
    for holder in (error, body):
        for key in ("code", "status", "status_code"):
            code = holder.get(key) if isinstance(holder, Mapping) else None
            if isinstance(code, int) and code in _STATUSES:
                return code
    if (match := _STATUS.search(text)) is not None:
        return int(match.group(1))
    lower = text.lower()
    return next((code for words, code in _KNOWN.items() if words in lower), None)


def _body(text: Any) -> Mapping[str, Any] | None:
    """Return the JSON object in a text that holds an error."""
    if isinstance(text, Mapping):
        return text
    begin = text.find("{") if isinstance(text, str) else -1
    end = text.rfind("}") if begin >= 0 else -1
    if end < begin or begin < 0:
        return None
    try:
        value = parse_json(text[begin : end + 1], "")
    except InvalidDocument:
        return None
    if not isinstance(value, dict):
        return None
    inner = value.get("error")
    # Agents wrap the error of an SDK, which holds the body once more as text.
    message = inner.get("message") if isinstance(inner, dict) else value.get("message")
    nested = _body(message) if isinstance(message, str) and message.lstrip().startswith("{") else None
    return nested if nested is not None and "error" in nested else value


def text_of(value: Any) -> str:
    """Return a value as text: itself, the texts of its blocks, or its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
        texts = [each["text"] for each in value if isinstance(each.get("text"), str)]
        if texts:
            return "\n".join(texts)
    return orjson.dumps(value, default=str).decode()
