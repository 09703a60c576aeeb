"""What a fault becomes: a finding, with its severity at a provider and the provider's answer to it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place, render
from conformance.profiles import UNKNOWN, Claim
from conformance.results import Finding, Harm, Level, Refusal
from conformance.rules import Rule
from conformance.rules.context import Context, Fault
from conformance.wire.native import CHAT

_LISTS: Final = (("request", "messages"), ("request", "input"))
"""Where refusals count: the messages of a request, or its items."""

_MEMBERS: Final = ("message", "type", "code", "param", "body")


class _Answer(NamedTuple):
    """What a provider does about a fault, as its claim says.

    `level`: how severe that makes it. `handling`: what it is claimed to do instead of rejecting it; it may be unknown.
    `refusal`: its answer; None if it does not reject it. `is_template`: whether the fault's values fill that answer.
    `contested`: what other sources say that it does.
    """

    level: Level
    handling: str
    refusal: Refusal | None
    is_template: bool
    contested: str = ""


def known_claim(rule: Rule, fault: Fault, context: Context) -> str:
    """Return the name of the claim that describes a fault of the provider; empty if the fault is news."""
    return fault.known or (rule.known_by(context) if rule.known_by is not None else "")


def finding(rule: Rule, place: Place, fault: Fault, context: Context) -> Finding:
    """Return what a rule found at a place as a finding, at its place in the body that was sent."""
    answer = _answer_to(rule, fault, context)
    native = context.exchange.native
    # The rules of one native wire look at its own bodies, so their places need no translation.
    at = place if native is None or CHAT not in rule.wires else native.place(place)
    refusal = answer.refusal
    if refusal is not None and answer.is_template:
        refusal = _filled_refusal(refusal, at, fault)
    handling = _in_a_word(fault.handling) if fault.handling else answer.handling
    harm = _harm(fault.harm or rule.harm, answer, handling)
    side = fault.side or rule.on.side.value
    return Finding(
        render(at), fault.message, answer.level, refusal, "", "", side, handling, harm, answer.contested,
        known_claim(rule, fault, context),
    )  # fmt: skip


def _harm(canonical: Harm, answer: _Answer, handling: str) -> Harm:
    """Return what a fault does to an agent at a provider: a rejection stops its loop, what is accepted does not."""
    # Whatever it would do elsewhere: an agent that is refused gets no further.
    if answer.refusal is not None:
        return Harm.LOOP
    if handling == "damaged":
        return Harm.CONTENT
    is_tolerated = handling in ("accepted", "ignored") and canonical is Harm.LOOP
    return Harm.FORM if is_tolerated or answer.level is Level.MAY else canonical


def _answer_to(rule: Rule, fault: Fault, context: Context) -> _Answer:
    """Return the provider's answer to a fault, from what is known about all faults of its claim."""
    level = fault.level or rule.level
    claim = fault.claim or rule.claim or ""
    if fault.verdict:
        contested = _contested(context.claim_of(claim))
        return _answer(fault.verdict, level, is_loss=fault.is_loss)._replace(contested=contested)
    # Kept with the claims, since a rule may find the same fault in each of a thousand messages.
    known, key = context.answers, (claim, level, fault.is_loss)
    found: _Answer | None = known.get(key)
    if found is None:
        found = _answer(context.claims.get(claim), level, is_loss=fault.is_loss)
        found = known[key] = found._replace(contested=_contested(context.claim_of(claim)))
    return found


def _contested(claim: Claim | None) -> str:
    """Return in words what other sources of a claim say; empty if they agree."""
    if claim is None:
        return ""
    return "; ".join([f"{other.source.text} says {_said(other.value)}" for other in claim.disagrees])


def _said(value: Any) -> str:
    """Return the value of a claim in words; a refusal by its status and text."""
    refusal, _ = _refusal(value)
    if refusal is not None:
        return f"{refusal.status}: {refusal.message}" if refusal.message else f"{refusal.status}"
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _answer(verdict: Any, level: Level, *, is_loss: bool) -> _Answer:
    handling = verdict.get("refusal") if isinstance(verdict, Mapping) else verdict
    refusal, is_template = _refusal(verdict)
    return _Answer(_level(level, verdict, is_loss=is_loss), _in_a_word(handling), refusal, is_template)


def _in_a_word(handling: Any) -> str:
    """Return what the provider is claimed to do instead of rejecting a fault; empty if it rejects it, or no claim."""
    return handling if isinstance(handling, str) else ""


def _level(canonical: Level, verdict: Any, *, is_loss: bool) -> Level:
    """Return the severity of a finding at a provider.

    What the provider rejects or damages is a MUST. What it accepts is at most a SHOULD, and so is what was looked for
    and not found. Lost content keeps the canonical level in both cases: an answer of 200 makes a rejection impossible,
    not the loss harmless. So does all that the profile does not mention, since that is as on the canonical wire.
    """
    if isinstance(verdict, Mapping):
        verdict = verdict.get("refusal", verdict)
    if verdict == "damaged" or isinstance(verdict, Mapping):
        return Level.MUST
    is_excused = verdict == "ignored" or (verdict in ("accepted", UNKNOWN) and not is_loss)
    return Level.SHOULD if is_excused and canonical is Level.MUST else canonical


def _refusal(verdict: Any) -> tuple[Refusal | None, bool]:
    """Return the refusal that a claim holds, as it is claimed, and whether it has placeholders."""
    claimed = verdict.get("refusal", verdict) if isinstance(verdict, Mapping) else None
    if not isinstance(claimed, Mapping) or "status" not in claimed:
        return None, False
    refusal = Refusal(claimed["status"], *[claimed.get(name) for name in _MEMBERS])
    # `repr` reaches every text, however deep in the body.
    return refusal, "{" in repr(refusal)


class _Values(dict[str, Any]):
    """Values for a message template; a placeholder without a value stays as it is."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _filled_refusal(claimed: Refusal, place: Place, fault: Fault) -> Refusal:
    """Return the claimed wording, filled with the values of the fault."""
    position = place[3] if place[1:3] in _LISTS and len(place) > 3 else ""
    block = place[5] if len(place) > 5 and place[4] == "content" else "{position}"
    values = _Values(fault.values)
    values.setdefault("index", position)
    values.setdefault("position", block)
    message, kind, code, param = [
        text.format_map(values) if type(text) is str and "{" in text else text
        for text in (claimed.message, claimed.type, claimed.code, claimed.param)
    ]
    body = None if claimed.body is None else _filled(claimed.body, values)
    return Refusal(claimed.status, message, kind, code, param, body)  # type: ignore[arg-type]  # a code stays a number


def _filled(template: Any, values: _Values) -> Any:
    """Return the body of a claimed refusal; a string that is a single placeholder takes the type of its value."""
    if isinstance(template, str):
        name = template[1:-1]
        return values[name] if template == f"{{{name}}}" and name in values else template.format_map(values)
    if isinstance(template, Mapping):
        return {key: _filled(member, values) for key, member in template.items()}
    return [_filled(item, values) for item in template] if isinstance(template, list) else template
