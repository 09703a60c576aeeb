"""What a provider did with a request, according to its recorded answer: accepted, or rejected for a cause."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple

import orjson

from conformance.profiles import REFUSING
from conformance.results import Refusal
from conformance.wire.exchange import Exchange
from conformance.wire.sse import read


class Answer(NamedTuple):
    """What the provider did: accepted a request, or rejected it with status, possible texts and body."""

    rejected: bool
    status: int | None = None
    texts: tuple[str, ...] = ()
    body: Any = None

    @property
    def words(self) -> str:
        """Return status and text as one."""
        return f"{self.status} {self.texts[0][:300]}" if self.rejected and self.texts else str(self.status)


def answer_of(exchange: Exchange) -> Answer | None:
    """Return what the provider did with a request; None if its answer was not recorded."""
    status, body = exchange.status, exchange.response
    if status is None and body is None:
        return None
    failed = status is not None and status >= 400
    if isinstance(body, str):
        body = _error_event(body) or body
    error = body.get("error") if isinstance(body, dict) and not body.get("choices") else None
    if not failed and not error:
        return Answer(rejected=False, status=status)
    return Answer(rejected=True, status=status if failed else _inside(error) or status, texts=_texts(body), body=body)


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


def cause_of(answer: Answer) -> str:
    """Return why a request was rejected, if not because of the wire; empty if it was, or if nothing shows the cause."""
    if answer.status in _STATUSES:
        return _STATUSES[answer.status]
    for cause, pattern in _CAUSES.items():
        if any(map(pattern.search, answer.texts)):
            return cause
    return "provider's own failure" if answer.status is not None and answer.status >= 500 else ""


def is_same(predicted: Refusal, claimed: Any, answer: Answer) -> bool:
    """Return whether a provider answered as predicted: the status, and the text in the predicted or another wording.

    `claimed` is the value of the claim that the refusal comes from; None if it is not known.
    """
    if predicted.status != answer.status:
        return False
    refusal = _refusal_in(claimed)
    other = [_template(each) for each in refusal.get("also", ())]
    patterns = [*([_template(predicted.message, doubled=False)] if predicted.message else ()), *other]
    if any(pattern.fullmatch(text) for pattern in patterns for text in answer.texts):
        return True
    return "body" in refusal and _fits(refusal["body"], answer.body)


def is_wordless(claimed: Any) -> bool:
    """Return whether a claim gives the status of a refusal alone, so that any text is as claimed."""
    refusal = _refusal_in(claimed)
    return "status" in refusal and not refusal.keys() & {"message", "also", "body"}


def _fits(template: Any, body: Any) -> bool:
    """Return whether a body has what a claimed one has; it may have more keys and items."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template) is not None
        return whole or (isinstance(body, str) and _template(template).fullmatch(body.strip()) is not None)
    if isinstance(template, Mapping):
        return isinstance(body, Mapping) and all(key in body and _fits(template[key], body[key]) for key in template)
    if isinstance(template, list):
        rest: Iterator[Any] = iter(body if isinstance(body, list) else ())
        return all(any(_fits(item, each) for each in rest) for item in template)
    return bool(template == body)


def refusals_confirmed(claims: Mapping[str, Any], answer: Answer, kinds: Mapping[str, str]) -> frozenset[str]:
    """Return the claims whose refusal matches the status and text that the provider answered."""
    found = set()
    for name, value in claims.items():
        refusal = _refusal_in(value) if kinds.get(name) in REFUSING else {}
        if refusal.get("status") == answer.status:
            wordings = [each for each in (refusal.get("message"), *refusal.get("also", ())) if each]
            patterns = [_template(each) for each in wordings if len(_PLACEHOLDER.sub("", each)) >= _MIN_CHARACTERS]
            if any(pattern.fullmatch(text) for pattern in patterns for text in answer.texts):
                found.add(name)
    return frozenset(found)


_PLACEHOLDER: Final = re.compile(r"\{[a-z]+\}")
_MIN_CHARACTERS: Final = 12
"""How many characters a claimed text must have besides its placeholders, to identify a refusal."""


@cache
def _template(text: str, *, doubled: bool = True) -> re.Pattern[str]:
    """Return a pattern for the texts of a template; `doubled` is whether its literal braces are still doubled."""
    parts = _PLACEHOLDER.split(text)
    if doubled:
        parts = [part.replace("{{", "{").replace("}}", "}") for part in parts]
    return re.compile(".*?".join(map(re.escape, parts)), re.DOTALL)


def _refusal_in(value: Any) -> Mapping[str, Any]:
    inner = value.get("refusal", value) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}
