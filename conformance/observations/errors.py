"""What an error shows: its status, the shape of its body, the types of its members."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.observations.answers import ProviderAnswer, cause_of
from conformance.observations.sights import ExchangeView, Sight, partial, value
from conformance.profiles import Claims
from conformance.schemas import validator

_STATUSES: Final = {
    "key": "http.unauthorized-status",
    "model name": "http.unknown-model-status",
    "": "http.invalid-status",
}
_RATE_LIMITED: Final = 429
_SHAPES: Final = (
    "openai-request-id", "openai-object", "openai", "flat", "flat-bare", "google", "array", "typed",
    "errors", "code-message-type", "openai-no-param", "openai-minimal", "code-message", "message-only", "problem",
    "code-data", "error-code", "flat-typed", "gateway", "code-string", "string", "message", "detail", "text",
)  # fmt: skip
"""The shapes of errors, those with more members first."""


def sights(view: ExchangeView, answer: ProviderAnswer, claims: Claims) -> Iterator[Sight]:
    """Yield what a refusal shows."""
    status = view.exchange.status
    if not answer.rejected or status is None:
        return
    if status < 400:
        yield value("error.in-200", True)  # noqa: FBT003 — the value that is seen
        return
    yield from _statuses(view, answer, status)
    yield from _body(answer.body)
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


def _statuses(view: ExchangeView, answer: ProviderAnswer, status: int) -> Iterator[Sight]:
    if status == _RATE_LIMITED:
        yield value("http.rate-limited-status", status)
        if view.exchange.headers:
            present = "retry-after" in view.exchange.headers
            yield value("http.retry-after", *(("present", "sometimes") if present else ("absent", "sometimes")))
    elif (name := _STATUSES.get(cause_of(answer))) is not None:
        yield value(name, status)


def _body(body: Any) -> Iterator[Sight]:
    """Yield every shape that a body has, the one with the most members first, and the types of its members."""
    error = error_of(body)
    shapes = [each for each in _SHAPES if validator(f"canonical/error-shapes#/$defs/{each}").is_valid(body)]
    if "metadata" in error:
        # First: this object shows the shape, whatever other shapes the error fits as well.
        shapes.insert(0, "metadata")
    elif validator("canonical/error-shapes#/$defs/metadata").is_valid(body):
        # The object is optional there, so that other errors have this shape, too; they say less.
        shapes.append("metadata")
    if shapes:
        yield value("error.shape", *shapes)
    for member in ("code", "param") if error else ():
        yield value(f"error.{member}-type", _type(error, member))


def error_of(body: Any) -> Mapping[str, Any]:
    """Return the object of an error that holds its message; empty if there is none."""
    # Google's compatible endpoint wraps errors in an array.
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {}


def _type(error: Mapping[str, Any], member: str) -> str:
    # Not None, which is a value that a member may have.
    held = error.get(member, ...)
    if held is ...:
        return "absent"
    # By the exact type: true is an int for isinstance.
    return {str: "string", int: "integer", type(None): "null", bool: "boolean"}.get(type(held), "object")
