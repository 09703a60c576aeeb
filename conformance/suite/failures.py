"""The failures of a run: which are expected, and what a failed item prints (expected, got, where, how to go on)."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from conformance import broken_clients, rules
from conformance.baseline import Entry, fits
from conformance.gate import GateResult, evaluate, name
from conformance.results import Evidence, Level, Outcome, Status
from conformance.results.runs import Case, ProbeResult, Results
from conformance.rules import advice
from conformance.scenarios import Probe

_WIDTH: Final = 100
_LABEL: Final = 10
_SHOWN: Final = 5

NOT_SENT_BACK: Final = "not-sent-back"
"""The member of `Case.observed` that says what of the replies was not sent back as it came."""
_PROSE: Final = frozenset({"note", "fix"})


@dataclass(frozen=True, slots=True)
class ExpectedFailures:
    """The expected failures of one subject, on a day (ISO 8601).

    `allow_wide`: they may match more than a tenth of the checks of the run.
    """

    entries: tuple[Entry, ...]
    today: str
    allow_wide: bool = False

    @classmethod
    def of_subject(
        cls, subject: str, entries: Sequence[Entry], today: str, *, allow_wide: bool = False
    ) -> "ExpectedFailures":
        """Return the entries that may apply to this subject.

        An entry whose first segment has a star may apply to other subjects, too; only the gate over all results can
        tell whether it is stale.
        """
        return cls(tuple([each for each in entries if fits(_subject(each), subject)]), today, allow_wide)

    def covering(self, subject: str, case: Case, fact: str) -> Entry | None:
        """Return the entry in force that covers a failure; `fact` is a rule's id or `probes/<probe>`.

        A failure of the simulator is a bug of this project and never expected.
        """
        if case.evidence is Evidence.SIMULATED:
            return None
        named = name(subject, case.name, fact)
        return next((each for each in self._in_force() if each.covers([named])), None)

    def naming(self, subject: str, case: Case, fact: str) -> Entry | None:
        """Return the entry that names exactly this fact in this case; if the fact passes, the entry is stale.

        An entry with a star or without a case is judged at the end of the run, a flaky one never.
        """
        named = name(subject, case.name, fact)
        return next((each for each in self._in_force() if each.match == named and not each.flaky), None)

    def check_entries(self, results: Results, *, is_complete: bool) -> GateResult:
        """Return which of the entries that name this subject are stale, expired, unmatched, or cover too much.

        An entry that no longer fails or matches nothing is only reported after a complete run, as is a baseline that
        matches too many checks; an expired entry and one that covers more than its `max` always.
        """
        named = [each for each in self.entries if "*" not in _subject(each)]
        found = evaluate([results], named, self.today, allow_wide=self.allow_wide)
        always = GateResult(expired=found.expired, exceeded=found.exceeded)
        if not is_complete:
            return always
        return replace(always, stale=found.stale, unmatched=found.unmatched, wide=found.wide)

    def _in_force(self) -> list[Entry]:
        return [each for each in self.entries if not each.has_expired(self.today)]


def _subject(entry: Entry) -> str:
    """Return the segment of an entry's pattern that names the subject."""
    return entry.match.partition("/")[0]


def summary_of_rule(outcome: Outcome) -> str:
    """Return in one line how the provider fails a rule; empty if it does not. A SHOULD is shown in the matrix alone."""
    if outcome.status is Status.FAILED and outcome.level is Level.MUST:
        first = outcome.findings[0]
        return f"{outcome.rule}: {first.message} (at {first.at})"
    if outcome.status in (Status.UNTESTED, Status.ERRORED):
        return f"{outcome.rule}: {outcome.status.value}: {outcome.reason}"
    return ""


def unmet_recommendations(case: Case) -> list[Outcome]:
    """Return the outcomes of the rules that the provider does not meet at SHOULD."""
    return [each for each in case.outcomes if each.status is Status.FAILED and each.level is Level.SHOULD]


def summary_of_recommendation(outcome: Outcome) -> str:
    """Return in one line how the provider does not meet a rule at SHOULD."""
    first = outcome.findings[0]
    return f"{outcome.rule} (SHOULD): {first.message} (at {first.at})"


def follows_from_end(case: Case, status: Status) -> bool:
    """Return True if a failure of this status follows from the early end of its case.

    If the model ended it, what it never came to is untested. If the wire did, nothing after that is worth a report of
    its own.
    """
    if not case.note:
        return False
    return status is Status.UNTESTED or (status is Status.FAILED and not case.is_ended_by_model)


def report_on_end(case: Case) -> str:
    """Return why a case ended early: the model's doing or the wire's, with the findings that show the cause."""
    if case.is_ended_by_model:
        advice_text = "The scenario was not played to its end; the wire is not at fault. Measure it with --repeat N."
        return "\n".join([case.note, *_details(iter([("fix", advice_text)]))])
    shown = [summary_of_rule(each) for each in case.outcomes if each.status is Status.FAILED and summary_of_rule(each)]
    found = [("found", each) for each in shown[:_SHOWN]]
    if len(shown) > _SHOWN:
        found.append(("found", f"and {len(shown) - _SHOWN} more rules"))
    found += [("note", each) for each in case.observed.get(NOT_SENT_BACK, ())]
    return "\n".join([f"the wire is broken: {case.note}", *_details(iter(found))])


def report_on_rule(outcome: Outcome, note: str = "") -> str:
    """Return the summary with all findings, the rule and how to fix it; `note` says why the case ended early."""
    (rule,) = rules.select([outcome.rule])
    summary = summary_of_rule(outcome) or summary_of_recommendation(outcome)
    return "\n".join([summary, *_details(_about_outcome(outcome, note)), *_details(_about_rule(rule))])


def _about_outcome(outcome: Outcome, note: str) -> Iterator[tuple[str, str]]:
    if outcome.status is Status.ERRORED:
        yield "note", "This is an error of the suite, not of the provider."
    elif outcome.status is Status.UNTESTED:
        yield "note", note or "The scenario promises to test this rule, and nothing that it applies to came."
    shown = ""
    for number, finding in enumerate(outcome.findings):
        if number:
            yield "also", f"{finding.message} (at {finding.at})"
        if finding.excerpt not in ("", shown):
            shown = finding.excerpt
            yield "value", shown


def _about_rule(rule: rules.Rule) -> Iterator[tuple[str, str]]:
    yield "rule", rule.title
    if fix := advice(rule.doc)[1]:
        yield "fix", fix
    if broken := broken_clients.of_rule(rule.id):
        yield "breaks", broken.text
    yield "more", f"conformance explain {rule.id}"


def summary_of_probe(result: ProbeResult) -> str:
    """Return in one line how the provider's answer differs from its claims."""
    if result.status is Status.UNTESTED:
        return f"probes/{result.name}: untested: {result.observed}"
    return f"probes/{result.name}: expected {result.expected}, got {result.observed}"


def report_on_probe(result: ProbeResult, probe: Probe, provider: str, note: str = "") -> str:
    """Return the summary with the deviation, the rule that it breaks and the claims that predict the answer."""
    return "\n".join([summary_of_probe(result), *_details(_about_probe(result, probe, provider, note))])


def _about_probe(result: ProbeResult, probe: Probe, provider: str, note: str) -> Iterator[tuple[str, str]]:
    if result.status is Status.UNTESTED and note:
        yield "note", note
    yield "probe", probe.title
    named: Sequence[str] = probe.claims
    if result.rule:
        (rule,) = rules.select([result.rule])
        named = named or rule.claims
        yield "breaks", f"{rule.id}: {rule.title}"
    if result.status is not Status.UNTESTED:
        claims = f"{' or '.join(named)} of the profile {provider}" if named else f"a claim of the profile {provider}"
        yield "fix", f"If this is how the provider behaves now, correct {claims}; otherwise the provider has a bug."
    explained = [*([result.rule] if result.rule else []), *named]
    yield (
        "more",
        f"conformance explain {' '.join(explained)}"
        if explained
        else (f"conformance explain claims --provider {provider}"),
    )


def _details(pairs: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of labelled texts; prose is wrapped, what a reader copies is not."""
    for label, text in pairs:
        lines = textwrap.wrap(" ".join(text.split()), _WIDTH - _LABEL) if label in _PROSE else [text]
        for number, line in enumerate(lines):
            yield f"  {'' if number else label + ':':{_LABEL - 2}}{line}"
