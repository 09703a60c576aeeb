"""The four core facts: what an agent loop must know of a provider, with what is claimed and what was observed.

Every run, matrix and provider page answers them first. A fact that a claim promises and that was not put to the test is
`untested`, and fails the run: green means checked.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance import scenarios
from conformance.profiles import UNKNOWN
from conformance.results import Evidence, Level, Outcome, Status, Verdict
from conformance.results.runs import Case, ProbeResult
from conformance.wire.reasoning import TAGS, foreign_keys

REASONING_RULE: Final = "reasoning/in-claimed-field"
"""The rule that checks where reasoning stands."""

SIGNATURE_RULE: Final = "gemini/reply-call-signed"
"""The rule that a reply breaks if it lacks the signature that the next request has to carry."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a core fact rests on: a rule, or a probe, in any of some scenarios.

    `claims`: the claims that promise it; a rule without claims is promised to all. `optional`: it counts where it
    applied, and is not missed elsewhere. `shown_by`: whether a case shows by other means that it passes, by the claims.
    `on_ids`: it is about ids, so nothing promises it where they are optional.
    """

    name: str
    scenarios: tuple[str, ...]
    claims: tuple[str, ...] = ()
    probe: bool = False
    optional: bool = False
    shown_by: Callable[[Case, Mapping[str, Any]], bool] | None = None
    on_ids: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A core fact: its checks, the claims that it shows, and those that rule it out, with their values.

    `observed`: the members of `Case.observed` that it shows.
    """

    name: str
    title: str
    claims: tuple[str, ...]
    checks: tuple[Check, ...]
    ruled_out_by: Mapping[str, Any]
    observed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreFact:
    """One core fact of one subject.

    `claimed`, by claim, and `observed` are in words. `evidence`: the kinds behind the verdict. `reasons`: what breaks,
    what could not be tested and why, or the claims that make it not applicable or unknown; `needs` names these claims,
    a group for each such reason.
    """

    name: str
    title: str
    verdict: Verdict
    claimed: Mapping[str, str]
    observed: str
    evidence: tuple[str, ...]
    reasons: tuple[str, ...]
    needs: tuple[tuple[str, ...], ...] = ()


_NO_REASONING: Final = {"thinking.mode": "never", "reasoning.response-field": "none"}
_NO_TOOLS: Final = {"tools.supported": False}
_THINKING: Final = "interleaved-thinking"
_PARALLEL: Final = "parallel-tool-calls"
_TURNS: Final = (_THINKING, "two-tool-turns")
_CALLS: Final = ("one-tool-call", *_TURNS)


def _probe(scenarios: str | tuple[str, ...], name: str, *claims: str, **more: Any) -> Check:
    names = (scenarios,) if isinstance(scenarios, str) else scenarios
    return Check(name, names, claims, probe=True, **more)


def _shows_hidden_field(case: Case, claims: Mapping[str, Any]) -> bool:
    """Return True if a reply showed reasoning between tags or under a key of its own, where the rule sees none."""
    claimed = claims.get("reasoning.response-field", UNKNOWN)
    fields = claimed if isinstance(claimed, list) else [claimed]
    hidden = [field for field in fields if field in TAGS or foreign_keys(field)]
    return any(field in case.observed.get("reasoning-fields", ()) for field in hidden)


def _is_never_sent(case: Case, claims: Mapping[str, Any]) -> bool:
    """Return True if the whole scenario was answered though it never sends reasoning back, as the claims have it."""
    return claims.get("reasoning.request-field") == "none" and bool(case.outcomes) and not case.note


DEFINITIONS: Final = (
    Definition(
        "reasoning-field",
        "Field that carries reasoning",
        ("reasoning.response-field", "reasoning.request-field"),
        (
            Check(
                REASONING_RULE,
                (_THINKING, "reasoning-without-tools"),
                ("reasoning.response-field",),
                shown_by=_shows_hidden_field,
            ),
        ),
        _NO_REASONING,
        ("reasoning-fields", "reasoning-on-tool-turns"),
    ),
    Definition(
        "reasoning-omitted",
        "Reasoning of a tool turn omitted, emptied, changed",
        ("reasoning.omitted-on-tool-turn", "reasoning.empty-on-tool-turn", "reasoning.altered"),
        (
            _probe(_THINKING, "absent-current-own", "reasoning.omitted-on-tool-turn", shown_by=_is_never_sent),
            _probe(_THINKING, "absent-current-with-item-ids", "responses.call-without-reasoning"),
            _probe(_THINKING, "empty-current-own", "reasoning.empty-on-tool-turn"),
            _probe(_THINKING, "altered-current-own", "reasoning.altered"),
            Check(SIGNATURE_RULE, _CALLS, ("signature.omitted",), optional=True),
            _probe(_THINKING, "signatures-dropped", "signature.omitted", optional=True),
            _probe(_THINKING, "signatures-altered", "signature.altered", optional=True),
        ),
        {**_NO_REASONING, **_NO_TOOLS},
    ),
    Definition(
        "tool-call-ids",
        "Tool-call ids: format, uniqueness, collisions",
        ("ids.format", "ids.unique-in-conversation", "ids.duplicate-in-request"),
        (
            Check("tool-calls/id-not-empty", _CALLS, ("tools.supported",)),
            Check("tool-calls/id-in-claimed-format", _CALLS, ("ids.format",)),
            Check("tool-calls/id-unique-in-conversation", _TURNS, ("ids.unique-in-conversation",)),
            Check("tool-calls/id-unique-in-reply", (_PARALLEL,), ("tools.parallel",)),
            _probe(_TURNS, "ids-colliding", "ids.duplicate-in-request"),
            _probe(_PARALLEL, "ids-colliding", "ids.duplicate-in-message"),
        ),
        {**_NO_TOOLS, "ids.optional": True},
        ("ids",),
    ),
    Definition(
        "parallel-calls",
        "Parallel calls: order of calls and of results",
        ("tools.parallel", "results.reversed"),
        (
            Check("tool-calls/id-unique-in-reply", (_PARALLEL,), ("tools.parallel",), on_ids=True),
            Check("stream/index-distinct", (_PARALLEL,), ("tools.parallel",), optional=True),
            _probe(_PARALLEL, "as-scripted", optional=True),
            _probe((_PARALLEL, "nonces-parallel"), "results-paired", "tools.parallel"),
            _probe(_PARALLEL, "results-reversed", "results.reversed"),
        ),
        {**_NO_TOOLS, "tools.parallel": False},
        ("parallel-calls",),
    ),
)


def core_facts(cases: Sequence[Case], claims: Mapping[str, Any]) -> tuple[CoreFact, ...]:
    """Return the four core facts of a subject from everything that was played, by the claims of its model."""
    return tuple([_fact(definition, cases, claims) for definition in DEFINITIONS])


def _fact(definition: Definition, cases: Sequence[Case], claims: Mapping[str, Any]) -> CoreFact:
    fact = CoreFact(definition.name, definition.title, Verdict.UNKNOWN, _claimed(definition, claims), "", (), ())
    for name, value in definition.ruled_out_by.items():
        if claims.get(name) == value:
            reason = f"{name}: {str(value).lower()}"
            return replace(fact, verdict=Verdict.NOT_APPLICABLE, reasons=(reason,), needs=((name,),))
    tested = [each for check in definition.checks if (each := _tested(check, cases, claims)) is not None]
    evidence = tuple(sorted({each.evidence for each in tested if each.evidence}))
    return _with_verdict(replace(fact, evidence=evidence, observed="; ".join(_observed(definition, cases))), tested)


@dataclass(frozen=True, slots=True)
class _Tested:
    """What came of one check: its status over all variants, and why it is not a pass.

    Not applicable: whether the check can be made depends on `needs`, claims that are unknown.
    """

    status: Status
    evidence: str = ""
    reason: str = ""
    needs: tuple[str, ...] = ()


_WORST: Final = (Status.ERRORED, Status.FAILED, Status.UNTESTED, Status.PASSED)


def _tested(check: Check, cases: Sequence[Case], claims: Mapping[str, Any]) -> _Tested | None:
    """Return what came of a check; None if no claim promises it, or the claims rule it out."""
    found = [each for each in _found(check, cases, claims) if each.status is not Status.NOT_APPLICABLE]
    if found:
        return min(found, key=lambda each: _WORST.index(each.status))
    if check.optional or not _is_promised(check, claims):
        return None
    unmet = {name: scenarios.load(name).unmet(claims) for name in check.scenarios}
    playable = [name for name, need in unmet.items() if need is None]
    if not playable:
        open_needs = {need for need in unmet.values() if need is not None and claims.get(need, UNKNOWN) == UNKNOWN}
        needs = tuple(sorted(open_needs))
        return _Tested(Status.NOT_APPLICABLE, "", f"{', '.join(needs)}: {UNKNOWN}", needs) if needs else None
    notes = sorted({case.note for case in cases if case.scenario in playable and case.note})
    played = any(case.scenario in playable for case in cases)
    why = "; ".join(notes) or ("it never applied" if played else "the scenario was not played")
    return _Tested(Status.UNTESTED, reason=f"{' or '.join(playable)}: {check.name}: {why}")


def _is_promised(check: Check, claims: Mapping[str, Any]) -> bool:
    if check.on_ids and claims.get("ids.optional") is True:
        return False
    return not check.claims or any(claims.get(name, UNKNOWN) != UNKNOWN for name in check.claims)


def _found(check: Check, cases: Sequence[Case], claims: Mapping[str, Any]) -> Iterator[_Tested]:
    for case in cases:
        if case.scenario not in check.scenarios:
            continue
        for each in _items(check, case):
            reason = f"{case.name}: {check.name}: {_reason(each)}"
            passed = each.status in (Status.PASSED, Status.NOT_APPLICABLE)
            yield _Tested(_status(each), case.evidence.value, "" if passed else reason)
        if check.shown_by is not None and check.shown_by(case, claims):
            yield _Tested(Status.PASSED, case.evidence.value)


def _items(check: Check, case: Case) -> Iterable[Outcome | ProbeResult]:
    if check.probe:
        return [each for each in case.probes if each.name == check.name]
    return [each for each in case.outcomes if each.rule == check.name]


def _status(item: Outcome | ProbeResult) -> Status:
    """Return the status; a rule that fails below MUST is tested and not broken."""
    if isinstance(item, Outcome) and item.status is Status.FAILED and item.level is not Level.MUST:
        return Status.PASSED
    return item.status


def _reason(item: Outcome | ProbeResult) -> str:
    if isinstance(item, ProbeResult):
        return f"expected {item.expected}, observed {item.observed}" if item.expected else item.observed
    return item.findings[0].message if item.findings else item.reason or item.status.value


def _with_verdict(fact: CoreFact, tested: Sequence[_Tested]) -> CoreFact:
    """Return a fact with its verdict, and the reasons for it."""
    found = {status: list(dict.fromkeys(each for each in tested if each.status is status)) for status in Status}
    if broken := found[Status.FAILED] + found[Status.ERRORED]:
        return _for_reasons(fact, Verdict.BREAKS, broken)
    if found[Status.UNTESTED]:
        return _for_reasons(fact, Verdict.UNTESTED, found[Status.UNTESTED])
    if not found[Status.PASSED]:
        fact = _for_reasons(fact, Verdict.UNKNOWN, found[Status.NOT_APPLICABLE])
        return replace(fact, needs=tuple(dict.fromkeys(each.needs for each in found[Status.NOT_APPLICABLE])))
    simulated = any(each.evidence == Evidence.SIMULATED.value for each in found[Status.PASSED])
    return replace(fact, verdict=Verdict.DECLARED if simulated else Verdict.CONFORMS)


def _for_reasons(fact: CoreFact, verdict: Verdict, tested: Sequence[_Tested]) -> CoreFact:
    return replace(fact, verdict=verdict, reasons=tuple(dict.fromkeys(each.reason for each in tested)))


def _claimed(definition: Definition, claims: Mapping[str, Any]) -> dict[str, str]:
    return {name: _words(claims.get(name, "as the canonical wire")) for name in definition.claims}


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        refusal = value.get("refusal", value)
        return str(refusal["status"]) if "status" in refusal else ", ".join(map(str, value))
    if isinstance(value, list):
        return ", ".join(_words(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _observed(definition: Definition, cases: Sequence[Case]) -> Iterator[str]:
    """Yield what was observed: values that replies showed, then the answers to the probes.

    What a simulated provider answers to an unclaimed deviation says nothing of the provider, and is left out.
    """
    for key in definition.observed:
        values = dict.fromkeys(value for case in cases for value in case.observed.get(key, ()))
        if values:
            yield ", ".join(values)
    for check in definition.checks:
        if check.probe:
            answers = dict.fromkeys(
                _answer(each.observed)
                for case in cases
                if case.scenario in check.scenarios
                for each in _items(check, case)
                if isinstance(each, ProbeResult) and _says_something(each, case)
            )
            if answers:
                yield f"{check.name.removesuffix('-current-own')} {', '.join(answers)}"


def _answer(observed: str) -> str:
    """Return an observation without the text of an error; what an accepted request led to remains."""
    verdict, _, rest = observed.partition(": ")
    return f"{verdict} ({rest})" if rest and verdict == "accepted" else verdict


def _says_something(result: ProbeResult, case: Case) -> bool:
    if result.status is Status.NOT_APPLICABLE:
        return case.evidence is not Evidence.SIMULATED
    return result.status is not Status.UNTESTED


def untested(facts: Sequence[CoreFact]) -> tuple[CoreFact, ...]:
    """Return the facts that a claim promises and that were not put to the test; they fail a run."""
    return tuple([fact for fact in facts if fact.verdict is Verdict.UNTESTED])
