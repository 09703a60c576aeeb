"""What a provider did with a request, according to its recorded answer: accepted, or rejected for a cause."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import orjson

from conformance.wire.exchange import Exchange
from conformance.wire.sse import read


class ProviderAnswer(NamedTuple):
    """What the provider did: accepted a request, or rejected it with status, possible texts and body."""

    rejected: bool
    status: int | None = None
    texts: tuple[str, ...] = ()
    body: Any = None

    @property
    def words(self) -> str:
        """Return status and text as one."""
        return f"{self.status} {self.texts[0][:300]}" if self.rejected and self.texts else str(self.status)


def answer_of(exchange: Exchange) -> ProviderAnswer | None:
    """Return what the provider did with a request; None if its answer was not recorded."""
    status, body = exchange.status, exchange.response
    if status is None and body is None:
        return None
    failed = status is not None and status >= 400
    if isinstance(body, str):
        body = _error_event(body) or body
    error = body.get("error") if isinstance(body, dict) and not body.get("choices") else None
    if not failed and not error:
        return ProviderAnswer(rejected=False, status=status)
    named = status if failed else _inside(error) or status
    return ProviderAnswer(rejected=True, status=named, texts=_texts(body), body=body)


def _error_event(text: str) -> Any:
    """Return the first event with an error, of a stream without choices; None if there is none."""
    if '"error"' not in text or '"choices"' in text:
        return None
    for data in read(text).data:
        with suppress(orjson.JSONDecodeError):
            event = orjson.loads(data)
            if isinstance(event, dict) and event.get("error"):
                return event
    return None


def _inside(error: Any) -> int | None:
    """Return the HTTP status that an error names under another status."""
    named = [error.get("code"), error.get("status_code")] if isinstance(error, dict) else []
    return next((each for each in named if isinstance(each, int) and 400 <= each < 600), None)


def _texts(body: Any) -> tuple[str, ...]:
    """Return the possible texts of an error: its message, what a gateway quotes in it, the body as it is."""
    if not isinstance(body, dict):
        return (body.strip(),) if isinstance(body, str) else ("",)
    error = body.get("error", body)
    found = [error if isinstance(error, str) else error.get("message") if isinstance(error, dict) else None]
    found += [body.get("message"), body.get("detail")]
    metadata = error.get("metadata") if isinstance(error, dict) else None
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(raw, str):
        found += [*_quoted(raw), raw]
    whole = json.dumps(body, ensure_ascii=False)
    return tuple([each for each in found if isinstance(each, str) and each] + [whole])


def _quoted(raw: str) -> tuple[str, ...]:
    try:
        return _texts(orjson.loads(raw))[:-1]
    except orjson.JSONDecodeError:
        return ()


_STATUSES: Final = {
    401: "key",
    403: "key",
    402: "quota",
    429: "quota",
    404: "model name",
    408: "provider's own failure",
}
_SAMPLING: Final = (
    r"\b(temperature|top_[pk]|max_tokens|max_completion_tokens|stop|n|seed|(top_)?logprobs|\w+_penalty|verbosity)"
)
_CAUSES: Final[Mapping[str, re.Pattern[str]]] = {
    cause: re.compile(pattern, re.IGNORECASE)
    for cause, pattern in {
        "key": r"api key|credential|authentication fails|subscription key",
        "quota": r"quota|rate.limit|insufficient (balance|credit)|requires more credits"
        r"|credit balance is too low",
        "context length": r"maximum (context|prompt) length|context.(size|window)|length limit exceeded"
        r"|(prompt|input) is too long|too many total text bytes|input token count .{1,40} exceeds",
        "model name": r"(invalid|unknown) model|not a valid model|no endpoints found|supported api model names"
        r"|model .{1,99} (does not exist|decommissioned|deprecated|is not supported with the responses api)",
        "sampling parameter": r"unsupported parameter|not support parameter|options not supported|below minimum value"
        rf"|'max_tokens' and 'max_completion_tokens'|unsupported value: '{_SAMPLING}|'?{_SAMPLING}'? (is not supported"
        r"|must be|should be|is too|does not support)",
        "content filter": r"content management policy|content.filter|moderation",
        "what the model wrote": r"tool_use_failed|tool call validation failed|model did not call a tool",
        "media": r"image\(s\) could not be processed|unsupported image|invalid file data|input tag 'file' found"
        r"|unable to download the file|the file format is invalid|combination of response modalities|mediaresolution"
        r"|cannot fetch content",
        "server tools": r"deep research models only support",
        "provider's own failure": r"^overloaded$",
    }.items()
}
"""Patterns in the text of an error for causes other than the wire, taken from texts that providers sent."""


def cause_of(answer: ProviderAnswer) -> str:
    """Return why a request was rejected, if not because of the wire; empty if it was, or if nothing shows the cause."""
    if answer.status in _STATUSES:
        return _STATUSES[answer.status]
    for cause, pattern in _CAUSES.items():
        if any(map(pattern.search, answer.texts)):
            return cause
    return "provider's own failure" if answer.status is not None and answer.status >= 500 else ""
