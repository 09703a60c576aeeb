"""Claims about deviations, from the answers to probes: accepted, damaged, or rejected with an error."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from conformance import rules
from conformance.discovery.exploring import Answer
from conformance.discovery.found import HIGH, MEDIUM, Claims, Found
from conformance.discovery.patterns import common_prefix
from conformance.errors import ConformanceError
from conformance.evidence.answers import answer_of
from conformance.evidence.reading import digest
from conformance.evidence.reads import kinds
from conformance.profiles import Claims as Values
from conformance.profiles import check_claim, thinks
from conformance.schemas import validator
from conformance.suite.probes import error_text
from conformance.wire.exchange import Exchange

_SHOWN: Final = 300
_TAKES_EFFECT: Final = "answered without an error; whether it takes effect was not observed"
_LENGTH: Final = "ids.input-max-length"
_WHILE_THINKING: Final = "request.prefill-while-thinking"
_SHAPES: Final = (
    "openai-request-id", "openai-object", "openai", "flat", "flat-bare", "google", "array", "typed",
    "errors", "code-message-type", "openai-no-param", "openai-minimal", "code-message", "message-only", "problem",
    "code-data", "error-code", "flat-typed", "gateway", "code-string", "string", "message", "detail", "text",
)  # fmt: skip
"""The shapes of errors, those with more members first."""


def verdicts(answers: Iterable[Answer], claims: Values) -> tuple[Claims, dict[str, str]]:
    """Return the claims that the answers show, and why others stay open, by claim."""
    every = tuple([each for each in answers if each.is_sent])
    foreign = any(each.exchange.status != 200 for each in every if _changes_ids(each) and len(each.probe.changes) == 1)
    by_claim: dict[str, list[Answer]] = {}
    for answer in every:
        # Where foreign ids are rejected, what else such a request changes is not shown.
        is_hidden = foreign and _changes_ids(answer) and len(answer.probe.changes) > 1
        name = "" if is_hidden else claim_of(answer, claims)
        if name:
            by_claim.setdefault(name, []).append(answer)
    found: Claims = {}
    open_: dict[str, str] = {}
    for name, group in sorted(by_claim.items()):
        one = _verdict(group)
        if isinstance(one, Found):
            found[name] = one
        else:
            open_[name] = one
    return found, open_


def _changes_ids(answer: Answer) -> bool:
    return any(change.name == "ids" for change in answer.probe.changes)


def claim_of(answer: Answer, claims: Values) -> str:
    """Return the claim that the answer to a probe shows; empty if it shows none alone."""
    if answer.probe.breaks is None:
        return next(iter(answer.probe.claims), "")
    (rule,) = rules.select([answer.probe.breaks])
    names: Sequence[str] = answer.probe.claims or rule.claims
    if _LENGTH in names:
        return ""
    if names[:1] == (_WHILE_THINKING,):
        return _WHILE_THINKING if thinks(claims, answer.exchange.request) else names[1]
    return next((name for name in names if kinds()[name] == "verdict"), "")


def _verdict(group: Sequence[Answer]) -> Found | str:
    """Return what all answers to one deviation have in common, or why they have nothing in common."""
    statuses = {each.exchange.status for each in group}
    first = group[0].exchange
    for each in group:
        if each.effect:
            return Found(each.effect, digest(each.exchange))
    if statuses == {200}:
        return Found("accepted", digest(first), MEDIUM, _TAKES_EFFECT)
    if len(statuses) > 1:
        shown = sorted({f"{each.probe.name}: HTTP {each.exchange.status}" for each in group})
        return f"the answers differ ({'; '.join(shown)[:_SHOWN]})"
    return Found(refusal([each.exchange for each in group]), digest(first), HIGH)


def refusal(exchanges: Sequence[Exchange]) -> dict[str, Any]:
    """Return the claimed form of an error, from every exchange that has it: its status, and the members that agree."""
    value: dict[str, Any] = {"status": exchanges[0].status}
    has_text = all(_has_text(each.response) for each in exchanges)
    message = _template([error_text(each.response) for each in exchanges], exchanges) if has_text else ""
    if message:
        value["message"] = message
    errors = [_error(each.response) for each in exchanges]
    for name, types in (("type", (str, type(None))), ("code", (str, int, type(None))), ("param", (str, type(None)))):
        held = [error.get(name, ...) for error in errors]
        if all(each == held[0] and each is not ... and type(each) in types for each in held):
            value[name] = _escaped(held[0]) if name == "param" and isinstance(held[0], str) else held[0]
    return value


def without_words(value: Any) -> Any:
    """Return a claimed refusal without its text; any other value as it is."""
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("refusal"), Mapping):
        return {**value, "refusal": without_words(value["refusal"])}
    return {name: each for name, each in value.items() if name != "message"}


def same_refusal(left: Any, right: Any) -> bool:
    """Return True if two claims are about one and the same error, which has a text."""
    if not (isinstance(left, Mapping) and isinstance(right, Mapping)):
        return False
    return bool(left.get("message")) and all(left.get(name) == right.get(name) for name in ("status", "message"))


def _has_text(body: Any) -> bool:
    """Return True if an error is worded, and no object stands in the place of its message."""
    error = _error(body)
    return isinstance(error.get("message") or error.get("detail") or body.get("error") if error else body, str)


def _error(body: Any) -> Mapping[str, Any]:
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {}


def _template(texts: Sequence[str], exchanges: Sequence[Exchange]) -> str:
    """Return what texts have in common, with a placeholder where they or the ids in them differ; empty if little."""
    ids = {each for exchange in exchanges for each in _ids(exchange.request) if len(each) > 3}
    parts = [_split(text, ids) for text in texts]
    if all(each == parts[0] for each in parts):
        whole = "{id}".join(map(_escaped, parts[0]))
        return whole if len(whole) <= _SHOWN else f"{_escaped(parts[0][0][:_SHOWN])}{{trace}}"
    prefix, suffix = common_prefix(texts), common_prefix([text[::-1] for text in texts])[::-1]
    if len(prefix) < 12:
        return ""
    return f"{_escaped(prefix[:_SHOWN])}{{trace}}{_escaped(suffix) if len(suffix) < _SHOWN else ''}"


def _split(text: str, ids: Iterable[str]) -> list[str]:
    known = sorted(ids, key=len, reverse=True)
    return re.split("|".join(map(re.escape, known)), text) if known else [text]


def _ids(request: Any) -> Iterable[str]:
    for message in request.get("messages", ()) if isinstance(request, dict) else ():
        named = [message.get("tool_call_id"), *(call.get("id") for call in message.get("tool_calls") or ())]
        yield from (each for each in named if isinstance(each, str))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def of_errors(exchanges: Iterable[Exchange]) -> Claims:
    """Return the claims about errors as such: their shape, and the types of their members."""
    rejected = [each for each in exchanges if (answer := answer_of(each)) and answer.rejected and each.status != 200]
    found: dict[str, dict[Any, str]] = {"error.shape": {}, "error.code-type": {}, "error.param-type": {}}
    for exchange in rejected:
        name = digest(exchange)
        found["error.shape"].setdefault(_shape(exchange.response), name)
        for member in ("code", "param"):
            if _error(exchange.response):
                found[f"error.{member}-type"].setdefault(_type(_error(exchange.response), member), name)
    claims: Claims = {}
    for claim, kinds_ in found.items():
        names = [each for each in kinds_ if each is not None]
        if names:
            claims[claim] = Found(names[0] if len(names) == 1 else names, kinds_[names[0]])
    return {name: each for name, each in claims.items() if _is_allowed(name, each.value)}


def _is_allowed(name: str, value: Any) -> bool:
    try:
        check_claim(name, value)
    except ConformanceError:
        return False
    return True


def _shape(body: Any) -> str | None:
    if "metadata" in _error(body):
        return "metadata"
    return next((each for each in _SHAPES if validator(f"canonical/error-shapes#/$defs/{each}").is_valid(body)), None)


def _type(error: Mapping[str, Any], member: str) -> str:
    held = error.get(member, ...)
    if held is ...:
        return "absent"
    return {str: "string", int: "integer", type(None): "null", bool: "boolean"}.get(type(held), "object")
