"""The report on a gateway at one front and one back, for people: what it loses, with both places, and how to fix it."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from conformance import fidelity
from conformance.fidelity import GATEWAY_RULES
from conformance.gateways.loss import losses, title
from conformance.reporting.text import Paint, plural, printable, printable_json
from conformance.results import Level, Status
from conformance.results.runs import Results
from conformance.rules import advice

_COLOURS: Final = {Level.MUST: "red", Level.SHOULD: "yellow", Level.MAY: "cyan"}
_MAX_CASES: Final = 6
_SEP: Final = "; after it: "


def render(results: Results, paint: Paint, *, every: bool = False) -> Iterator[str]:
    """Yield the report line by line; `every`: losses at SHOULD and MAY, too, and notes."""
    yield f"{paint('bold', f'{results.subject} before {results.provider} ({results.model})')}\n"
    for loss in losses(results):
        outcome, finding = loss.outcome, loss.finding
        if outcome.level is not Level.MUST and not every:
            continue
        yield f"\n{paint(_COLOURS[outcome.level], outcome.level.value)} {outcome.rule}: {title(outcome.rule)}\n"
        shown = ", ".join(loss.cases[:_MAX_CASES])
        more = f" and {len(loss.cases) - _MAX_CASES} more" if len(loss.cases) > _MAX_CASES else ""
        yield f"    in {plural(len(loss.cases), 'case')}: {shown}{more}\n"
        text, _, became = finding.message.rpartition(_SEP)
        yield f"    {loss.case.name}: {printable(text)}\n"
        yield f"        before {finding.side}: {printable(finding.at)}: {printable(finding.excerpt)}\n"
        yield f"        after it:       {printable(became)}\n"
        if outcome.rule not in GATEWAY_RULES and (fix := advice(fidelity.by_id()[outcome.rule].doc)[1]):
            yield f"    to fix it: {printable(' '.join(fix.split()))}\n"
    notes = [(case.name, case.note) for case in results.cases if case.note]
    for name, note in notes if every else ():
        yield f"\nnote: {name}: {printable(note)}\n"
    yield f"\n{_counts(results, paint)}\n"


def line(results: Results, paint: Paint) -> str:
    """Return one line about a gateway at a front and a back."""
    broken = [each.outcome.rule for each in losses(results) if each.outcome.level is Level.MUST]
    shown = f"; loses {', '.join([each.partition('/')[2] for each in broken])}" if broken else ""
    return printable(f"{results.subject} before {results.provider}: ") + _counts(results, paint) + printable(shown)


def _counts(results: Results, paint: Paint) -> str:
    played = [case for case in results.cases if case.outcomes]
    facts = {
        outcome.rule for case in played for outcome in case.outcomes if outcome.status in (Status.PASSED, Status.FAILED)
    }
    worst: dict[str, Level] = {each.outcome.rule: each.outcome.level for each in losses(results)}
    must = sum([level is Level.MUST for level in worst.values()])
    kept = paint("green", f"{len(facts) - len(worst)} kept")
    lost = paint("red", f"{must} lost") if must else "0 lost"
    others = len(worst) - must
    return (
        f"{plural(len(played), 'case')} played, {plural(len(facts), 'fact')}: {kept}, {lost}, {others} changed or said"
    )


def as_json(results: Results) -> str:
    """Return the losses as a JSON array of objects."""
    rows: list[dict[str, Any]] = [
        {
            "fact": each.outcome.rule,
            "level": each.outcome.level.value,
            "title": title(each.outcome.rule),
            "cases": list(each.cases),
            "by": each.finding.side,
            "message": each.finding.message.rpartition(_SEP)[0],
            "before": each.finding.at,
            "after": each.finding.message.rpartition(_SEP)[2],
        }
        for each in losses(results)
    ]
    return printable_json(orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


def exit_code(results: Results) -> int:
    """Return 1 if something is lost at MUST or was not tested, 2 if a check errored, else 0."""
    outcomes = [outcome for case in results.cases for outcome in case.outcomes]
    if any([each.status is Status.ERRORED for each in outcomes]):
        return 2
    failed = [each.status is Status.FAILED and each.level is Level.MUST for each in outcomes]
    return int(any(failed) or any([each.status is Status.UNTESTED for each in outcomes]))
