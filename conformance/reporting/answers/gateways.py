"""Five questions about what a gateway keeps between a client and a provider, answered by the facts about gateways."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from conformance.reporting.answers import SENT, Meaning, Question, SubjectAnswer
from conformance.reporting.matrix.table import Inputs
from conformance.results import Level, Outcome, Status
from conformance.results.runs import Results

QUESTIONS: Final = (
    Question("gateway-reasoning", "Rea\u00adsoning", "Does reasoning pass the gateway, in replies and back?"),
    Question("gateway-signatures", "Signa\u00adtures", "Do the signatures of reasoning and calls pass the gateway?"),
    Question("gateway-ids", "Call ids", "Do ids of calls stay, or are they mapped back?"),
    Question("gateway-calls", "Calls", "Do calls, arguments and results pass the gateway?"),
    Question("gateway-order", "Order", "Do calls and results stay in their order?"),
)
"""The questions: the core facts, and whether what is paired by them arrives."""

_FACTS: Final = (
    ("reasoning-kept",),
    ("signatures-kept",),
    ("ids-mapped",),
    ("calls-kept", "arguments-kept", "results-kept"),
    ("calls-in-order", "results-in-order"),
)


class GatewayAnswers(NamedTuple):
    """The answers of a gateway with one front before one provider."""

    results: Results
    answers: tuple[SubjectAnswer, ...]

    @property
    def gateway(self) -> str:
        """Return the name of the gateway with its version."""
        return self.results.subject.partition(":")[0]


def gateway_answers(inputs: Inputs) -> Iterator[GatewayAnswers]:
    """Yield the answers of each gateway at each front before each back, ordered by name."""
    for results in sorted(inputs.gateways, key=lambda each: each.name):
        yield GatewayAnswers(results, tuple([_answer(results, facts) for facts in _FACTS]))


def _answer(results: Results, facts: tuple[str, ...]) -> SubjectAnswer:
    """Return what becomes of some facts: the worst, the cases in which it was seen, and how many were compared."""
    found: dict[Meaning, set[str]] = {}
    for case in results.cases:
        for outcome in case.outcomes:
            if outcome.rule.removeprefix("gateway/") in facts and outcome.status in (Status.PASSED, Status.FAILED):
                found.setdefault(_meaning(outcome), set()).add(case.name)
    cases = set().union(*found.values())
    day = results.run.date or ""
    for meaning, value in ((Meaning.BREAKS, "lost"), (Meaning.BEWARE, "changed")):
        if meaning in found:
            notes = (f"in {len(found[meaning])} of {len(cases)} cases",)
            return SubjectAnswer(value, meaning, notes, SENT, len(cases), read=day)
    if cases:
        return SubjectAnswer("kept", Meaning.WORKS, (f"{len(cases)} cases",), SENT, len(cases), read=day)
    return SubjectAnswer("nothing to keep", Meaning.UNKNOWN)


def _meaning(outcome: Outcome) -> Meaning:
    if outcome.status is Status.PASSED:
        return Meaning.WORKS
    return Meaning.BREAKS if outcome.level is Level.MUST else Meaning.BEWARE
