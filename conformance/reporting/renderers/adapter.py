"""The report on an adapter, for people: by rule, the worst first, each with evidence and how to fix it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.reporting.text import Paint, plural, printable
from conformance.results import NOTHING_TO_JUDGE

_COLOURS: Final = {"errored": "red", "untested": "red", "fails": "red", "warns": "yellow", "differs": "cyan"}
_ERRORED: Final = "the driver or this program failed; this says nothing about the adapter"
_UNTESTED: Final = "promised by the scenario, but there was nothing to check"
_MAX_CASES: Final = 6
_MAX_FINDINGS: Final = 2


def render(summary: Mapping[str, Any], paint: Paint, *, every: bool = False) -> Iterator[str]:
    """Yield the report of one adapter with one provider line by line.

    `every`: all findings, including MAY, instead of the first two of a rule.
    """
    yield f"{paint('bold', _head(summary))}\n"
    for rule in summary["rules"]:
        if rule["grade"] != "untested" and (every or rule["grade"] != "differs"):
            yield from _rule(rule, summary, paint, every=every)
    yield from _untested([rule for rule in summary["rules"] if rule["grade"] == "untested"], paint)
    for note in summary["notes"] if every else ():
        yield f"\nnote: {note['case']}: {printable(note['note'])}\n"
    yield f"\n{_counts(summary, paint)}\n"


def render_line(summary: Mapping[str, Any], paint: Paint) -> str:
    """Return one line about an adapter with a provider: the counts, and the rules that it breaks."""
    broken = [rule["rule"] for rule in summary["rules"] if rule["grade"] == "fails"]
    shown = f"; breaks {', '.join(broken)}" if broken else ""
    return printable(f"{summary['adapter']} with {summary['provider']}: ") + _counts(summary, paint) + shown


def _head(summary: Mapping[str, Any]) -> str:
    mode = "refusing requests as the provider would" if summary["strict"] else "recorded first, checked afterwards"
    return printable(f"{summary['adapter']} with {summary['provider']} ({summary['model']}), {mode}")


def _rule(rule: Mapping[str, Any], summary: Mapping[str, Any], paint: Paint, *, every: bool) -> Iterator[str]:
    grade = rule["grade"]
    yield f"\n{paint(_COLOURS[grade], grade.upper())} {rule['rule']}: {printable(rule['title'])}\n"
    if grade == "errored":
        yield f"    {_ERRORED}\n"
    yield f"    {_where(rule['cases'], every=every)}\n"
    for reason in rule["reasons"] if every else rule["reasons"][:_MAX_FINDINGS]:
        yield from (f"    {printable(line)}\n" for line in reason.splitlines())
    for finding in rule["findings"] if every else rule["findings"][:_MAX_FINDINGS]:
        side = f" ({finding['side']})" if finding["side"] else ""
        where = f"{finding['case']}{side} at {printable(finding['at'] or '(root)')}"
        yield f"    {where}: {printable(finding['message'])}\n"
        if finding["sent"]:
            yield f"        sent: {printable(finding['sent'])}\n"
        if finding["refusal"]:
            yield f"        {summary['provider']} answers {printable(finding['refusal'])}\n"
    if rule["fix"] and rule["findings"]:
        yield f"    to fix it: {printable(rule['fix'])}\n"
        yield f"    conformance explain {rule['rule']}\n"


def _untested(rules: Sequence[Mapping[str, Any]], paint: Paint) -> Iterator[str]:
    """Yield what was not tested, by cases: if a client ends early, many rules are untested for one reason."""
    by_cases: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for rule in rules:
        by_cases.setdefault(tuple(rule["cases"]), []).append(rule)
    for cases, untested in by_cases.items():
        yield f"\n{paint(_COLOURS['untested'], 'UNTESTED')} {', '.join([rule['rule'] for rule in untested])}\n"
        yield f"    {_where(cases, every=False)}; {_UNTESTED}\n"
        reasons = dict.fromkeys([reason for rule in untested for reason in rule["reasons"]])
        for reason in reasons:
            if not reason.startswith(NOTHING_TO_JUDGE):
                yield from (f"    {printable(line)}\n" for line in reason.splitlines())


def _where(cases: Sequence[str], *, every: bool) -> str:
    shown = cases if every else cases[:_MAX_CASES]
    more = f" and {len(cases) - len(shown)} more" if len(cases) > len(shown) else ""
    return f"in {plural(len(cases), 'case')}: {', '.join(shown)}{more}"


def _counts(summary: Mapping[str, Any], paint: Paint) -> str:
    grades = ", ".join(
        f"{paint(_COLOURS[grade], f'{count} {grade}')}" for grade, count in summary["grades"].items() if count
    )
    wrong_kind = summary["wrong_kind"]
    ruled_out = summary["cases"] - summary["played"] - wrong_kind
    skipped = f"; {plural(ruled_out, 'case')} not applicable to the provider" if ruled_out else ""
    skipped += f"; {plural(wrong_kind, 'more case')} with the same error" if wrong_kind else ""
    clean = f"{summary['clean']} clean"
    played = plural(summary["played"], "case")
    return f"{played} played: {paint('green', clean)}{', ' + grades if grades else ''}{skipped}"
