"""The report of the gate, for people: what closes it and how to fix that, then the expected failures.

In a terminal, or as Markdown for the comment on a pull request.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.baseline import Entry
from conformance.gate import PROBES, CheckResult, GateResult
from conformance.reporting.text import Paint, code, plural, printable, prose, shorten

_MAX_LISTED: Final = 50
"""How many results of a kind a comment lists; the others are counted."""

_WIDTH: Final = 300
"""How many characters of a message a comment shows; a comment can hold 65,536."""


def render(gate: GateResult, paint: Paint, partial: str = "") -> Iterator[str]:
    """Yield the report line by line; the last line says whether the gate is open or closed, and what is `partial`."""
    for result in gate.errored:
        yield f"{paint('red', 'errored')} {_result(result)}\n    this is a bug in this project; no entry covers it\n"
    for result in gate.unexpected:
        yield f"{paint('red', 'unexpected failure')} {_result(result)}\n"
    for name, note in gate.unchecked:
        yield f"{paint('red', 'nothing checked')} {printable(name + (f': {note}' if note else ''))}\n"
    for name, problem in gate.problems:
        yield f"{paint('red', 'failed run')} {printable(f'{name}: {problem}')}\n"
    yield from _entries(gate, paint)
    for result, entry in gate.expected:
        yield f"{paint('yellow', 'expected failure')} {_result(result)}\n"
        yield f"    {printable(f'{entry.reason} {entry.link}')}\n"
    yield f"{_verdict(gate, paint)}{printable(f'; {partial}') if partial else ''}\n"


def _entries(gate: GateResult, paint: Paint) -> Iterator[str]:
    """Yield what is wrong with the baseline."""
    for entry in gate.stale:
        yield f"{paint('red', 'stale entry')} {_entry(entry)}\n    all checks that it matches pass; remove the entry\n"
    for entry in gate.unmatched:
        yield f"{paint('red', 'unmatched entry')} {_entry(entry)}\n"
        yield "    it matches no check; fix the pattern or remove the entry\n"
    for entry in gate.expired:
        yield f"{paint('red', f'entry expired on {entry.until}')} {_entry(entry)}\n"
        yield "    if the failure still occurs, extend the entry; otherwise remove it\n"
    for entry, count in gate.exceeded:
        yield f"{paint('red', 'exceeded entry')} {_entry(entry)}\n    {_beyond(entry, count)}\n"
    for subject, matched, checks in gate.wide:
        yield f"{paint('red', 'wide baseline')} {printable(subject)}: {_wide(matched, checks)}\n"


def render_markdown(gate: GateResult, partial: str = "") -> Iterator[str]:
    """Yield the report as Markdown, line by line; what came over the wire is always in code spans."""
    yield f"### Conformance: **{_state(gate)}**\n\n"
    yield f"{_counts(gate) or 'No unexpected failures, and no stale entries.'}{_known(gate)}\n"
    results = {"Errors in conformance itself": gate.errored, "Unexpected failures": gate.unexpected}
    for heading, found in results.items():
        yield from _listed(heading, [_item(each) for each in found])
    yield from _listed("Cases that checked nothing", [f"{code(name)} — {code(note)}" for name, note in gate.unchecked])
    yield from _listed("Failed runs", [f"{code(name)} — {code(problem)}" for name, problem in gate.problems])
    entries = {"Stale entries": gate.stale, "Unmatched entries": gate.unmatched, "Expired entries": gate.expired}
    for heading, many in entries.items():
        yield from _listed(heading, [f"{code(each.match)}: {prose(each.reason)}" for each in many])
    yield from _listed(
        "Exceeded entries", [f"{code(each.match)}: {_beyond(each, count)}" for each, count in gate.exceeded]
    )
    yield from _listed(
        "Wide baseline", [f"{code(subject)}: {_wide(matched, checks)}" for subject, matched, checks in gate.wide]
    )
    names = dict.fromkeys([each.check for each in gate.unexpected if not each.check.startswith(f"{PROBES}/")])
    if names:
        yield f"\nTo fix a failure: {code(' '.join(['conformance explain', *[*names][:_MAX_LISTED]]))}\n"
    if gate.expected:
        yield f"\n<details><summary>expected failures: {len(gate.expected)}</summary>\n"
        yield from _listed("", [f"{_item(result)}: {prose(entry.reason)}" for result, entry in gate.expected])
        yield "\n</details>\n"
    if partial:
        yield f"\n{prose(partial)}\n"


def _listed(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"\n**{heading}: {len(items)}**\n\n" if heading else "\n"
        yield from (f"- {item}\n" for item in items[:_MAX_LISTED])
        yield from [f"- and {len(items) - _MAX_LISTED} more\n"] if len(items) > _MAX_LISTED else []


def _item(result: CheckResult) -> str:
    at = f" at {code(result.at)}" if result.at else ""
    return f"{code(result.names[0])}{at} — {code(shorten(result.message or result.status.value, _WIDTH))}"


def _result(result: CheckResult) -> str:
    at = f" at {result.at}" if result.at else ""
    return printable(f"{result.names[0]}{at}: {result.message or result.status.value}")


def _entry(entry: Entry) -> str:
    line = f" (line {entry.line})" if entry.line else ""
    return printable(f"{entry.match}{line}: {entry.reason}")


def _beyond(entry: Entry, count: int) -> str:
    return f"it covers {plural(count, 'failure')}, and its max is {entry.max}; find out which are new"


def _wide(matched: int, checks: int) -> str:
    return (
        f"entries match {matched} of {plural(checks, 'check')}, more than a tenth; "
        "narrow their patterns, or add --allow-wide-baseline"
    )


def _verdict(gate: GateResult, paint: Paint) -> str:
    if gate.passes:
        return f"{paint('green', _state(gate))}{_known(gate)}"
    return f"{paint('red', _state(gate))}: {_counts(gate)}{_known(gate)}"


def _state(gate: GateResult) -> str:
    return f"the gate is {'open' if gate.passes else 'closed'}"


def _known(gate: GateResult) -> str:
    return f"; covered {len(gate.expected)} of {gate.checks}" if gate.checks else ""


def _counts(gate: GateResult) -> str:
    """Return what closes the gate, in numbers."""
    closing = {
        ("errored", "errored"): len(gate.errored),
        ("unexpected failure", "unexpected failures"): len(gate.unexpected),
        ("case checked nothing", "cases checked nothing"): len(gate.unchecked),
        ("problem of a run", "problems of runs"): len(gate.problems),
        ("stale entry", "stale entries"): len(gate.stale),
        ("unmatched entry", "unmatched entries"): len(gate.unmatched),
        ("expired entry", "expired entries"): len(gate.expired),
        ("exceeded entry", "exceeded entries"): len(gate.exceeded),
        ("wide baseline", "wide baselines"): len(gate.wide),
    }
    return ", ".join(f"{number} {one if number == 1 else many}" for (one, many), number in closing.items() if number)
