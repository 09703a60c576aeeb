"""A page of HTML for each adapter with a provider: what it breaks, how to fix it, and the whole request that shows it.

A page is one file without scripts: a content security policy forbids every address and every style but its own.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Final

from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.adapters.proof import BrokenCase, broken, proofs
from conformance.adapters.timeline import Timeline
from conformance.documents.pointer import parse
from conformance.gate import check_results
from conformance.reporting.answers import Question, SubjectAnswer
from conformance.reporting.answers.adapters import QUESTIONS, adapter_answers
from conformance.reporting.bodies import BodyLine, body_lines
from conformance.reporting.matrix import brief
from conformance.reporting.matrix.table import ADAPTER, Table, TableSubject
from conformance.reporting.page import adapter_page
from conformance.reporting.page.facts import MEANINGS, address
from conformance.reporting.templates import render_template
from conformance.reporting.text import plural
from conformance.results import TRAFFIC
from conformance.results.runs import Results
from conformance.rules import Rule, advice

_STYLE: Final = Path(__file__).parent / "_html" / "adapter.css"
_MAX_CASES: Final = 12
_OPEN_LINES: Final = 40
"""How many lines a request may have that is not folded."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """A rule that is broken, with all that a page says about it; `lines` are those of the request, if it was kept."""

    rule: str
    title: str
    level: str
    why: Sequence[str]
    fix: str
    cases: str
    message: str
    at: str
    excerpt: str
    answer: str
    request: str
    lines: Sequence[BodyLine]
    commands: Sequence[str]

    @property
    def is_folded(self) -> bool:
        """Return whether the request is too long to stand open."""
        return len(self.lines) > _OPEN_LINES


def publish(table: Table) -> Mapping[str, str]:
    """Return the files by their paths."""
    by_name = {results.name: results for results in table.inputs.results}
    found = [subject for subject in table.subjects if subject.kind == ADAPTER]
    return {adapter_page(each.name): render(table, each, by_name[each.name]) for each in found}


def render(table: Table, subject: TableSubject, results: Results) -> str:
    """Return the page of one adapter with one provider."""
    style = _STYLE.read_text("utf-8")
    (answers,) = adapter_answers(replace(table.inputs, results=[results]))
    failed = {each.case for each in check_results(results) if each.is_bad}
    played = [case.name for case in results.cases if case.outcomes]
    return render_template(
        "_html/adapter.html.j2",
        policy=f"default-src 'none'; style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=style,
        subject=subject,
        versions=", ".join([f"{name} {version}" for name, version in sorted(subject.versions.items())]),
        counts=f"{len(played) - len(failed.intersection(played))} of {plural(len(played), 'case')} break no MUST",
        matrix=f"../matrix.html{address('of', subject.name)}",
        answers=[(question.text, answer, MEANINGS[answer.meaning][0]) for question, answer in _pairs(answers.answers)],
        failures=list(_failures(results)),
        releases=_releases(table.inputs.timelines, results),
    )


@dataclass(frozen=True, slots=True)
class _Releases:
    """What a page says of the releases of an adapter: which were run, in what, and since when each rule is broken."""

    tried: str
    scenarios: str
    date: str
    lines: Sequence[tuple[str, str]]
    command: str


def _releases(timelines: Sequence[Timeline], results: Results) -> _Releases | None:
    """Return what the timeline of an adapter with a provider says; None if there is none."""
    name = results.subject.partition("@")[0]
    for each in timelines:
        if (each.adapter, each.provider) == (name, results.provider):
            run = [f"{one['version']} ({one['date']})" for one in each.releases if not one["skipped"]]
            command = f"conformance adapter timeline {quote(name)} --provider {quote(each.provider)}"
            return _Releases(", ".join(run), ", ".join(each.scenarios), each.date, tuple(each.lines()), command)
    return None


def _pairs(answers: Sequence[SubjectAnswer]) -> Iterator[tuple[Question, SubjectAnswer]]:
    return zip(QUESTIONS, answers, strict=True)


def _failures(results: Results) -> Iterator[_Failure]:
    """Yield what is broken, what breaks a MUST first."""
    known = loop.with_rules()
    found = proofs(results.cases)
    for rule in sorted(found, key=lambda each: (-found[each].finding.level.severity, each)):
        yield _failure(results, known[rule], found[rule])


def _failure(results: Results, rule: Rule | Fact, proof: BrokenCase) -> _Failure:
    case, finding, sent = proof.case, proof.finding, proof.request
    why, fix = advice(rule.doc)
    names = [each.name for each in results.cases if rule.id in {outcome.rule for outcome in broken(each)}]
    more = f" and {len(names) - _MAX_CASES} more" if len(names) > _MAX_CASES else ""
    refusal = finding.refusal
    kind = "streamed" if case.variant == "stream" else "plain"
    return _Failure(
        rule.id,
        rule.title,
        finding.level.value,
        [" ".join(each.split()) for each in why.split("\n\n") if each],
        " ".join(fix.split()),
        f"{plural(len(names), 'case')}: {', '.join(names[:_MAX_CASES])}{more}",
        finding.message,
        finding.at,
        "" if sent else finding.excerpt,
        brief({"status": refusal.status, "message": refusal.message}) if refusal is not None else "",
        f"Request {sent.exchange + 1} of {case.scenario}, {kind}: POST {sent.path}" if sent else "",
        tuple(body_lines(sent.body, parse(finding.at)[2:])) if sent else (),
        tuple(_commands(results, rule.id, case.scenario, case.variant)),
    )


def _commands(results: Results, rule: str, scenario: str, variant: str) -> Iterator[str]:
    """Yield the commands that repeat a failure and that write a bug report; traffic of a client has none."""
    if scenario == TRAFFIC:
        return
    subject, provider = quote(results.subject), quote(results.provider)
    named = subject if "@" in results.subject else "--driver COMMAND"
    yield f"conformance adapter run {named} --provider {provider} --scenario {scenario} --variant {variant}"
    yield f"conformance adapter issue {subject} --provider {provider} --rule {rule}"
