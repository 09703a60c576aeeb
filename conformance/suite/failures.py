"""What a failed item prints: the rule or probe, what was expected and what came, where, and how to go on."""

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from conformance import rules
from conformance.results import Level, Outcome, Status
from conformance.results.runs import Case, ProbeResult
from conformance.rules import advice
from conformance.scenarios import Probe
from conformance.suite.config_keys import SAFE

_WIDTH: Final = 100
_LABEL: Final = 10
_SHOWN: Final = 5
_PROSE: Final = frozenset({"note", "fix"})


class ConformanceWarning(UserWarning):
    """The provider does not meet a recommendation."""


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


def warn(item: pytest.Item, message: str) -> None:
    """Show a message among pytest's warnings.

    The hook is called directly, so that a repository that makes warnings errors does not turn a SHOULD into a MUST.
    """
    category = ConformanceWarning
    shown = item.config.stash.get(SAFE, str)(message)
    warning = warnings.WarningMessage(ConformanceWarning(shown), category, str(item.path), 0)
    arguments = {"warning_message": warning, "when": "runtest", "nodeid": item.nodeid, "location": None}
    item.config.hook.pytest_warning_recorded.call_historic(kwargs=arguments)


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
        advice_text = "The model did not follow the scenario; the wire is not at fault. Measure it with --repeat N."
        return "\n".join([case.note, *_details(iter([("fix", advice_text)]))])
    shown = [summary_of_rule(each) for each in case.outcomes if each.status is Status.FAILED and summary_of_rule(each)]
    found = [("finding", each) for each in shown[:_SHOWN]]
    if len(shown) > _SHOWN:
        found.append(("finding", f"and {len(shown) - _SHOWN} more rules"))
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
