"""A failed call, as logs tell of it: the text of an exception, with the status and the body of the reply in it.

SDKs put both into the message of the exception: `Error code: 400 - {…}` (openai-python, anthropic-sdk-python), `400
{…}` (their Node SDKs), `400 INVALID_ARGUMENT. {…}` (google-genai), `litellm.BadRequestError: OpenAIException - …`.

Source: `_make_status_error_from_response` in src/openai/_base_client.py of github.com/openai/openai-python,
`makeMessage` in src/core/error.ts of github.com/openai/openai-node, exception_mapping_utils.py in
litellm/litellm_core_utils of github.com/BerriAI/litellm, and `APIError.__init__` in google/genai/errors.py of
github.com/googleapis/python-genai
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from conformance.documents import JSON
from conformance.formats.printed_values import UnreadableValue, value_at
from conformance.formats.records import as_object, status_of

_STATUSES: Final = {
    "BadRequestError": 400,
    "InvalidRequestError": 400,
    "ContextWindowExceededError": 400,
    "ContentPolicyViolationError": 400,
    "UnsupportedParamsError": 400,
    "ValidationException": 400,
    "AuthenticationError": 401,
    "PermissionDeniedError": 403,
    "PermissionError": 403,
    "NotFoundError": 404,
    "ConflictError": 409,
    "RequestTooLargeError": 413,
    "UnprocessableEntityError": 422,
    "RateLimitError": 429,
    "ThrottlingException": 429,
    "InternalServerError": 500,
    "ServiceUnavailableError": 503,
    "OverloadedError": 529,
}
"""By the name of an exception: the status for which SDKs raise it."""
_BY_NAME: Final = {name.lower(): status for name, status in _STATUSES.items()}
_STATUS: Final = re.compile(
    r"(?:\b[Ee]rror [Cc]ode:?|\b[Ss]tatus(?:[ _]?[Cc]ode)?['\"]?\s*[:=]?|\bHTTP(?:/[0-9.]+)?(?: [Ee]rror)?:?"
    r"|\bAPI [Ee]rror:?|\b(?:unexpected|with) status:?|(?:Client|client|Server|server) error '|Error:|Exception:|\A)"
    r"\s*['\"(]?(?P<status>[45][0-9]{2})\b(?!\.[0-9])"
)
_CLASS: Final = re.compile(rf"\b(?P<name>{'|'.join(_STATUSES)})\b", re.IGNORECASE)
_RAISED: Final = re.compile(r"(?:[\w.]+(?:Error|Exception):\s*)+")
_LEAD: Final = re.compile(r"\s*(?:[:.-]|[A-Z_]+\.|[A-Z][a-z]+(?: [A-Z][a-z]+){0,2}:)?\s*")
_GO: Final = re.compile(r"error, status code: [45][0-9]{2}, (?:status: [^,]*, )?message: (?P<said>[^\n]*?)\"?$")
_URL: Final = re.compile(r"(?:\bfor url:? '?|, url: )(?P<url>https?://[^\s'\"<>]+)")
_BODY_KEYS: Final = frozenset({"error", "errors", "message", "detail", "type", "code", "Message", "msg"})
_MAX_TRIES: Final = 20
_MAX_TEXT: Final = 20_000
_ERROR: Final = 400


class LoggedFailure(NamedTuple):
    """What a log says of a call that failed; `is_body`: whether `body` is the reply's own, not made from a text."""

    status: int | None
    body: JSON
    is_body: bool
    url: str = ""

    @property
    def message(self) -> str:
        """Return the message of the error, or the empty string."""
        return message_of(self.body)


def of_text(text: str) -> LoggedFailure:
    """Return what a text says of a failed call; a text in which no body can be found is itself the message."""
    text = text.strip()[:_MAX_TEXT]
    found = _STATUS.search(text)
    named = _CLASS.search(text)
    status = int(found["status"]) if found else _BY_NAME[named["name"].lower()] if named else None
    link = _URL.search(text)
    body = _body_in(text, found.end() if found else 0)
    url = link["url"].rstrip(".,)") if link else ""
    if body is not None:
        return LoggedFailure(status or _status_in(body), body, is_body=True, url=url)
    if go := _GO.match(text):
        return LoggedFailure(status, {"error": {"message": go["said"]}}, is_body=False)
    raised = _RAISED.match(text)
    start = raised.end() if raised else 0
    line = text[found.end() :] if found and found.start() <= start < found.end() else text[start:]
    said = _LEAD.sub("", line, count=1).strip() or text
    return LoggedFailure(status, {"error": {"message": said}} if said else None, is_body=False, url=url)


def of_value(value: Any) -> LoggedFailure | None:
    """Return what a value of a log says of a failed call: a text, an error body, or an exception with its fields."""
    if isinstance(value, str) and value.strip():
        return of_text(value)
    if not isinstance(value, Mapping) or not value:
        return None
    status = next(filter(None, (status_of(value.get(key)) for key in ("status", "statusCode", "status_code"))), None)
    for key in ("responseBody", "body", "error", "response"):
        inner = value.get(key)
        if isinstance(inner, str) and inner.strip():
            found = of_text(inner)
            return found._replace(status=status or found.status)
        if isinstance(inner, Mapping) and inner.keys() & _BODY_KEYS:
            body: Any = dict(inner) if {"error", "detail"} & inner.keys() else {"error": dict(inner)}
            return LoggedFailure(status or _status_in(body), body, is_body=True)
    said = value.get("message", value.get("error_message"))
    if isinstance(said, str) and said:
        found = of_text(said)
        return found._replace(status=status or found.status)
    return None


def _status_in(body: JSON) -> int | None:
    """Return the status that a body repeats as its code, as Google and OpenRouter do."""
    held = as_object(body)
    status = status_of(as_object(held.get("error", held)).get("code"))
    return status if status is not None and status >= _ERROR else None


def message_of(body: Any) -> str:
    """Return the message in the body of an error, or the empty string."""
    inner = as_object(body).get("error", body)
    said = inner if isinstance(inner, str) else as_object(inner).get("message", as_object(body).get("detail"))
    return said if isinstance(said, str) else ""


def _body_in(text: str, start: int) -> JSON:
    """Return the first value in a text that looks like the body of an error; None if there is none."""
    at = start
    for _ in range(_MAX_TRIES):
        at = text.find("{", at)
        if at < 0:
            return None
        try:
            value, _ = value_at(text, at)
        except UnreadableValue:
            at += 1
            continue
        if isinstance(value, dict) and value.keys() & _BODY_KEYS:
            return value
        at += 1
    return None
