"""Claims about deviations, from the answers to probes: accepted, damaged, or rejected with an error."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from conformance import rules
from conformance.discovery.counting import counted
from conformance.discovery.exploring import ProbeAnswer
from conformance.discovery.wires import bodies
from conformance.observations.collected import HIGH, MEDIUM, ObservedClaim, ObservedClaims
from conformance.observations.errors import error_of
from conformance.observations.id_patterns import shared_start
from conformance.observations.refusals import without_places
from conformance.observations.sights import digest, kinds
from conformance.profiles import Claims, thinks
from conformance.simulator.refusals import GENERIC
from conformance.suite.probes import error_text
from conformance.wire.exchange import Exchange

_SHOWN: Final = 300
_SHORT: Final = 3
"""How long a text is that may be a part of a word and no id."""

_OF_AN_ID: Final = re.compile(r"(?:\A|_)id\Z")
_TAKES_EFFECT: Final = "answered without an error; whether it takes effect was not observed"
_NO_CLAIM: Final = "the answer is an error with status 200, which no claim about a deviation can say"
_LENGTH: Final = "ids.input-max-length"
_WHILE_THINKING: Final = "request.prefill-while-thinking"


def verdicts(answers: Iterable[ProbeAnswer], claims: Claims) -> tuple[ObservedClaims, dict[str, str]]:
    """Return the claims that the answers show, and why others stay open, by claim."""
    every = tuple([each for each in answers if each.is_sent])
    foreign = any(each.exchange.status != 200 for each in every if _changes_ids(each) and len(each.probe.changes) == 1)
    by_claim: dict[str, list[ProbeAnswer]] = {}
    for answer in every:
        # Where foreign ids are rejected, what else such a request changes is not shown.
        is_hidden = foreign and _changes_ids(answer) and len(answer.probe.changes) > 1
        name = "" if is_hidden else claim_of(answer, claims)
        if name:
            by_claim.setdefault(name, []).append(answer)
    found: ObservedClaims = {}
    open_: dict[str, str] = {}
    for name, group in sorted(by_claim.items()):
        one = _verdict(group)
        if isinstance(one, ObservedClaim):
            found[name] = counted(one, len({digest(each.exchange) for each in group}))
        else:
            open_[name] = one
    return found, open_


def _changes_ids(answer: ProbeAnswer) -> bool:
    return any(change.name == "ids" for change in answer.probe.changes)


def claim_of(answer: ProbeAnswer, claims: Claims) -> str:
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


def _verdict(group: Sequence[ProbeAnswer]) -> ObservedClaim | str:
    """Return what all answers to one deviation have in common, or why they have nothing in common."""
    statuses = {each.exchange.status for each in group}
    first = group[0].exchange
    for each in group:
        if each.effect:
            return ObservedClaim(each.effect, digest(each.exchange))
    if any([is_error_in_200(each.exchange) for each in group]):
        return _NO_CLAIM
    if statuses == {200}:
        return ObservedClaim("accepted", digest(first), MEDIUM, _TAKES_EFFECT)
    if len(statuses) > 1:
        shown = sorted({f"{each.probe.name}: HTTP {each.exchange.status}" for each in group})
        return f"the answers differ ({'; '.join(shown)[:_SHOWN]})"
    return ObservedClaim(refusal([each.exchange for each in group]), digest(first), HIGH)


def is_error_in_200(exchange: Exchange) -> bool:
    """Return whether a reply with status 200 is an error."""
    body = exchange.response
    return exchange.status == 200 and isinstance(body, dict) and bool(body.get("error")) and not body.get("choices")


def refusal(exchanges: Sequence[Exchange]) -> dict[str, Any]:
    """Return the claimed form of an error, from every exchange that has it: its status, and the members that agree."""
    value: dict[str, Any] = {"status": exchanges[0].status}
    has_text = all(_has_text(each.response) for each in exchanges)
    # Where a simulator does not know the provider's words, it sends its own, which say what was found in one request.
    has_text = has_text and not any(error_text(each.response).endswith(GENERIC) for each in exchanges)
    message = _template([error_text(each.response) for each in exchanges], exchanges) if has_text else ""
    if message:
        value["message"] = message
    errors = [error_of(each.response) for each in exchanges]
    for name, types in (("type", (str, type(None))), ("code", (str, int, type(None))), ("param", (str, type(None)))):
        held = [error.get(name, ...) for error in errors]
        if all(each == held[0] and each is not ... and type(each) in types for each in held):
            value[name] = _escaped(held[0]) if name == "param" and isinstance(held[0], str) else held[0]
    return value


def _has_text(body: Any) -> bool:
    """Return True if an error is worded, and no object stands in the place of its message."""
    error = error_of(body)
    return isinstance(error.get("message") or error.get("detail") or body.get("error") if error else body, str)


def _template(texts: Sequence[str], exchanges: Sequence[Exchange]) -> str:
    """Return what texts have in common, with a placeholder where they or the ids in them differ; empty if little."""
    ids = {each for exchange in exchanges for each in _ids(exchange) if len(each) > _SHORT}
    parts = [_split(text, ids) for text in texts]
    if all(each == parts[0] for each in parts):
        whole = without_places("{id}".join(map(_escaped, parts[0])))
        return whole if len(whole) <= _SHOWN else f"{_escaped(parts[0][0][:_SHOWN])}{{trace}}"
    prefix, suffix = shared_start(texts), shared_start([text[::-1] for text in texts])[::-1]
    if len(prefix) < 12:
        return ""
    return f"{_escaped(prefix[:_SHOWN])}{{trace}}{_escaped(suffix) if len(suffix) < _SHOWN else ''}"


def _split(text: str, ids: Iterable[str]) -> list[str]:
    known = sorted(ids, key=len, reverse=True)
    return re.split("|".join(map(re.escape, known)), text) if known else [text]


def _ids(exchange: Exchange) -> Iterator[str]:
    """Yield the ids in a request as it was on its wire: of calls, of results, and of items such as reasoning."""
    held: list[Any] = [bodies(exchange)[0]]
    while held:
        value = held.pop()
        if isinstance(value, dict):
            yield from [each for key, each in value.items() if isinstance(each, str) and _OF_AN_ID.search(key)]
            held += value.values()
        elif isinstance(value, list):
            held += value


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
