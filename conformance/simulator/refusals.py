"""How a simulated provider refuses a request: which refusal its claims lead to, and the body of the error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.documents.pointer import parse
from conformance.results import Outcome, Refusal
from conformance.simulator.reply_context import ReplyContext

_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("message", "type", "param", "code"),
    "openai-no-param": ("message", "type", "code"),
    "openai-minimal": ("message", "type"),
    "openai-object": ("object", "type", "code", "message"),
    "openai-request-id": ("message", "type", "param", "code"),
    "code-message": ("code", "message"),
    "code-message-type": ("code", "message", "type"),
    "message-only": ("message",),
    "metadata": ("code", "message", "metadata"),
    "google": ("code", "message", "status"),
    "array": ("code", "message", "status"),
    "typed": ("type", "message"),
    "flat": ("object", "message", "type", "param", "code"),
    "flat-bare": ("message", "type", "param", "code"),
    "flat-typed": ("message", "type"),
    "flat-type_": ("message", "type_"),
    "message": ("message",),
    "code-data": ("code", "message", "data"),
    "error-code": ("error_code", "message"),
}
"""The members of the error object, or of the body if the shape is flat."""

_FLAT: Final = frozenset({"flat", "flat-bare", "flat-typed", "flat-type_", "message", "code-data", "error-code"})
_REQUEST: Final = "00000000-0000-4000-8000-000000000000"
_HOLE: Final = re.compile(
    r"\{(index|position|id|ids|field|path|role|other|kind|name|value|count|length|limit|model|reason|line|column|trace)\}"
)
_STATUSES: Final = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
_SHAPE: Final = "shape/"
"""The family of rules that a provider checks first: it reads a body before it compares messages."""

_REQUIRED: Final = frozenset({"openai", "openai-request-id", "flat", "flat-bare", "code-string", "openai-no-param"})
"""Shapes that always have code and param."""


GENERIC: Final = "(simulated: this provider's own answer to it is not known)"
"""The end of the message of a refusal that no claim gives."""


def of_claim(claimed: Mapping[str, Any], values: Mapping[str, object]) -> Refusal:
    """Return the refusal that a claim gives."""
    members = {name: claimed.get(name) for name in ("message", "type", "code", "param", "body")}
    return completed(Refusal(claimed["status"], **members), values)


def completed(refusal: Refusal, values: Mapping[str, object]) -> Refusal:
    """Return a refusal whose remaining placeholders are filled; those without a value stay."""
    return replace(
        refusal,
        message=None if refusal.message is None else str(_filled(refusal.message, values)),
        param=None if refusal.param is None else str(_filled(refusal.param, values)),
        body=_filled(refusal.body, values),
    )


# Not a function within the one above: one that calls itself is a cycle, which would hold the values of a request.
def _filled(template: Any, values: Mapping[str, object]) -> Any:
    if isinstance(template, str):
        whole = _HOLE.fullmatch(template)
        if whole and whole[1] in values:
            return values[whole[1]]
        return _HOLE.sub(lambda hole: str(values[hole[1]]) if hole[1] in values else hole[0], template)
    if isinstance(template, dict):
        return {key: _filled(member, values) for key, member in template.items()}
    return [_filled(item, values) for item in template] if isinstance(template, list) else template


def first_refusal(outcomes: Sequence[Outcome], exchange: int = 0) -> Refusal | None:
    """Return how the provider refuses the request of an exchange, by the first fault in it; None if it does not."""
    found = _claimed(outcomes, exchange)
    return found[0] if found else None


def refusals(outcomes: Sequence[Outcome], exchange: int) -> list[Refusal]:
    """Return every refusal of the request of an exchange, in the order of the faults in the request.

    A message ends before its first placeholder that only the text of the request could fill.
    """
    return [
        replace(refusal, message=refusal.message and _HOLE.split(refusal.message)[0])
        for refusal in _claimed(outcomes, exchange)
    ]


def _claimed(outcomes: Sequence[Outcome], exchange: int) -> list[Refusal]:
    found = [
        (not outcome.rule.startswith(_SHAPE), place, finding.refusal)
        for outcome in outcomes
        for finding in outcome.findings
        if finding.refusal is not None and (place := position(finding.at))[:1] == (exchange,)
    ]
    # By their places alone: refusals have no order, and those of one place keep that of the rules.
    return [refusal for *_, refusal in sorted(found, key=lambda each: each[:2])]


def position(pointer: str) -> tuple[int, ...]:
    """Return the numbers in a pointer, which order the faults of a request."""
    return tuple([int(token) for token in parse(pointer) if token.isdecimal()])


def error_body(context: ReplyContext, refusal: Refusal) -> Any:
    """Return the body of an error in the provider's shape; a string if that shape is not JSON."""
    if refusal.body is not None:
        return refusal.body
    shape = str(context.claim("error.shape", "openai"))
    text = refusal.message or "Invalid request."
    values = _values(context, refusal, text, shape)
    bodies: dict[str, Any] = {
        "text": text,
        "string": {"error": text},
        "detail": {"detail": text},
        "problem": {"status": refusal.status, "title": "Invalid request", "detail": text},
        "gateway": {"status": "failure", "message": text},
        "errors": {
            "success": False,
            "errors": [{"code": values.get("code") or refusal.status, "message": text}],
            "messages": [],
            "result": None,
        },
        "code-string": {"code": values.get("code"), "error": text},
    }
    if shape in bodies:
        return bodies[shape]
    members = {name: values[name] for name in _MEMBERS.get(shape, _MEMBERS["openai"]) if name in values}
    members |= {
        name: _extra(name, refusal) for name in context.claim_values("error.extra-fields") if name not in members
    }
    return members if shape in _FLAT else _wrapped(shape, members)


def _wrapped(shape: str, members: dict[str, Any]) -> Any:
    whole: dict[str, Any] = {"error": members}
    if shape == "array":
        return [whole]
    if shape == "openai-request-id":
        return whole | {"request_id": _REQUEST}
    return {"type": "error", **whole, "request_id": _REQUEST} if shape == "typed" else whole


def _values(context: ReplyContext, refusal: Refusal, text: str, shape: str) -> dict[str, Any]:
    """Return every member that a shape may have; code and param only if their claimed type allows them."""
    code = _typed(context, "error.code-type", refusal.code, refusal.status, shape)
    values: dict[str, Any] = {
        "message": text,
        "type": refusal.type or "invalid_request_error",
        "type_": refusal.type or "invalid_request_error",
        "object": "error",
        "status": _STATUSES.get(refusal.status, "INVALID_ARGUMENT"),
        "error_code": refusal.status if refusal.code is None else refusal.code,
        "metadata": {},
        "data": None,
    }
    param = _typed(context, "error.param-type", refusal.param, "messages", shape)
    return values | ({} if code is ... else {"code": code}) | ({} if param is ... else {"param": param})


def _typed(context: ReplyContext, claim: str, given: Any, number: Any, shape: str) -> Any:
    """Return a member that the refusal gives, or one of the claimed type; `...` if the error has no such member."""
    if given is not None:
        return given
    types = context.claim_values(claim)
    if not types:
        return None if shape in _REQUIRED else number
    if "null" in types:
        return None
    if "absent" in types:
        return None if shape in _REQUIRED else ...
    return "invalid_request" if types[0] == "string" and isinstance(number, int) else number


def _extra(name: str, refusal: Refusal) -> Any:
    return refusal.status if "status" in name else "simulated"
