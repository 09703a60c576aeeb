"""Four questions about what an adapter sends back, answered by the rules that check its requests."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.reporting.answers import SENT, Answers, Meaning, Question, SubjectAnswer
from conformance.reporting.matrix.table import Inputs
from conformance.results import Level, Outcome, Status
from conformance.results.runs import Results

QUESTIONS: Final = (
    Question("keeps", "Rea\u00adsoning", "Does it send the reasoning back, unchanged and in the right field?"),
    Question("keeps-ids", "Call ids", "Does it send tool call ids back that the provider accepts?"),
    Question("keeps-order", "Result order", "Are results and earlier messages in their order?"),
    Question("pairs", "Pairing", "Does each result answer its own call?"),
)
"""The questions, in the order of the core facts."""

_KEPT: Final = ("keeps", "keeps", "keeps", "pairs")
"""The answer to each question if no rule fails."""

_FAILURES: Final[tuple[Mapping[str, str], ...]] = (
    {
        "reasoning/present-on-tool-turns": "loses",
        "reasoning/present-on-plain-turns-where-required": "loses",
        "reasoning/resent-on-tool-turns": "loses",
        "reasoning/signatures-resent": "drops signatures",
        "reasoning/under-accepted-field": "wrong field",
        "reasoning/not-empty-where-refused": "empties",
        "reasoning/details-unchanged": "changes",
        "reasoning/verbatim": "changes",
    },
    {
        "request/tool-call-ids-unique": "repeats",
        "request/tool-call-ids-unique-in-message": "repeats",
        "request/tool-call-id-not-empty": "empty",
        "request/tool-call-id-length": "too long",
        "request/tool-call-id-pattern": "wrong form",
        "request/tool-call-id-native-format": "foreign form",
    },
    {
        "transcript/results-in-call-order": "reorders results",
        "transcript/results-follow-calls": "misplaces results",
        "transcript/history-append-only": "rewrites history",
    },
    {
        "transcript/result-answers-call": "wrong call",
        "loop/result-matches-call": "wrong call",
        "transcript/calls-answered": "results missing",
        "transcript/one-result-per-call": "answers twice",
    },
)
"""For each question the rules that answer it, and the answer if they fail; those of a MUST come before others."""


LOSING: Final = tuple(_FAILURES[0])
"""The rules whose failures mean that reasoning is lost or changed."""

_RARE: Final = 0.1
"""A failure in fewer of the cases than this share is to beware of: it needs an odd reply, such as ids that repeat."""


def adapter_answers(inputs: Inputs) -> Iterator[Answers]:
    """Yield the answers of each adapter with each of its providers, ordered by name."""
    for results in sorted(inputs.results, key=lambda each: each.name):
        if results.provider:
            each = zip(_FAILURES, _KEPT, strict=True)
            wire = inputs.profile_of(results).wire
            yield Answers(results.name, wire, tuple([_answer(results, rules, kept) for rules, kept in each]))


def _answer(results: Results, rules: Mapping[str, str], kept: str) -> SubjectAnswer:
    """Return the answer of the worst rule that fails, the first one of these in the order of the rules."""
    checked: set[str] = set()
    failed: dict[tuple[bool, str], Counter[str]] = {}
    for name, outcome in _outcomes(results, rules):
        if outcome.status in (Status.PASSED, Status.FAILED):
            checked.add(name)
        if outcome.status is Status.FAILED:
            is_must = outcome.level is Level.MUST
            failed.setdefault((is_must, outcome.rule), Counter())[name] += 1
    if not checked:
        return SubjectAnswer("not tested", Meaning.UNKNOWN, evidence="")
    if not failed:
        return SubjectAnswer(
            kept, Meaning.WORKS, (f"{len(checked)} cases",), SENT, len(checked), row=_first(results, rules)
        )
    positions = [*rules]
    breaking = [key for key, counted in failed.items() if key[0] and len(counted) >= _RARE * len(checked)]
    _, rule = min(breaking or failed, key=lambda key: (not key[0], positions.index(key[1])))
    cases = {name for key, counted in failed.items() if rules[key[1]] == rules[rule] for name in counted}
    others = sorted({rules[key[1]] for key in failed} - {rules[rule]})
    notes = (f"in {len(cases)} of {len(checked)} cases", *others)
    return SubjectAnswer(
        rules[rule], Meaning.BREAKS if breaking else Meaning.BEWARE, notes, SENT, len(checked), row=rule
    )


def _outcomes(results: Results, rules: Mapping[str, str]) -> Iterator[tuple[str, Outcome]]:
    for case in results.cases:
        for outcome in case.outcomes:
            if outcome.rule in rules:
                yield case.name, outcome


def _first(results: Results, rules: Mapping[str, str]) -> str:
    """Return the first of the rules that checked something."""
    judged = {outcome.rule for _, outcome in _outcomes(results, rules)}
    return next(rule for rule in rules if rule in judged)
