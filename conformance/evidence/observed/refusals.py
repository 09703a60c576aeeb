"""What the answer to a rejected request shows: its status, and where it is reported."""

from collections.abc import Iterator
from typing import Final

from conformance.evidence.answers import Answer, cause_of
from conformance.evidence.observed.seen import Sight, View, partial, value
from conformance.profiles import Claims

_STATUSES: Final = {
    "key": "http.unauthorized-status",
    "model name": "http.unknown-model-status",
    "": "http.invalid-status",
}
_RATE_LIMITED: Final = 429


def sights(view: View, answer: Answer, claims: Claims) -> Iterator[Sight]:
    """Yield what a refusal shows."""
    status = view.exchange.status
    if not answer.rejected or status is None:
        return
    if status < 400:
        yield value("error.in-200", True)  # noqa: FBT003 — the value that is seen
        return
    if status == _RATE_LIMITED:
        yield value("http.rate-limited-status", status)
        present = "retry-after" in view.exchange.headers
        yield value("http.retry-after", *(("present", "sometimes") if present else ("absent", "sometimes")))
    elif (name := _STATUSES.get(cause_of(answer))) is not None:
        yield value(name, status)
    kind = view.exchange.headers.get("content-type", "").partition(";")[0].strip()
    if kind:
        yield value("error.content-type", kind)
    error = answer.body.get("error") if isinstance(answer.body, dict) else None
    extra = claims.get("error.extra-fields")
    held = {**(answer.body if isinstance(answer.body, dict) else {}), **(error if isinstance(error, dict) else {})}
    yield from partial("error.extra-fields", [each for each in held if isinstance(extra, list) and each in extra])
    metadata = error.get("metadata") if isinstance(error, dict) else None
    if isinstance(metadata, dict) and metadata.get("raw"):
        yield value("error.wraps-upstream", True)  # noqa: FBT003 — as above
