"""The report of the gate, for people: what closes it and how to fix that, then the expected failures."""

from collections.abc import Iterator

from conformance.baseline import Entry
from conformance.gate import CheckResult, GateResult
from conformance.reporting.text import Paint, printable


def render(gate: GateResult, paint: Paint) -> Iterator[str]:
    """Yield the report line by line; the last line says whether the gate is open or closed."""
    for result in gate.errored:
        yield f"{paint('red', 'errored')} {_result(result)}\n    this is a bug in this project; no entry covers it\n"
    for result in gate.unexpected:
        yield f"{paint('red', 'unexpected failure')} {_result(result)}\n"
    for name, note in gate.unchecked:
        yield f"{paint('red', 'nothing checked')} {printable(name + (f': {note}' if note else ''))}\n"
    for entry in gate.stale:
        yield f"{paint('red', 'stale entry')} {_entry(entry)}\n    all checks that it matches pass; remove the entry\n"
    for entry in gate.unmatched:
        yield f"{paint('red', 'unmatched entry')} {_entry(entry)}\n"
        yield "    it matches no check; fix the pattern or remove the entry\n"
    for entry in gate.expired:
        yield f"{paint('red', f'entry expired on {entry.until}')} {_entry(entry)}\n"
        yield "    if the failure still occurs, extend the entry; otherwise remove it\n"
    for result, entry in gate.expected:
        yield f"{paint('yellow', 'expected failure')} {_result(result)}\n"
        yield f"    {printable(f'{entry.reason} {entry.link}')}\n"
    yield _verdict(gate, paint)


def _result(result: CheckResult) -> str:
    at = f" at {result.at}" if result.at else ""
    return printable(f"{result.names[0]}{at}: {result.message or result.status.value}")


def _entry(entry: Entry) -> str:
    line = f" (line {entry.line})" if entry.line else ""
    return printable(f"{entry.match}{line}: {entry.reason}")


def _verdict(gate: GateResult, paint: Paint) -> str:
    closing = {
        ("errored", "errored"): len(gate.errored),
        ("unexpected failure", "unexpected failures"): len(gate.unexpected),
        ("case checked nothing", "cases checked nothing"): len(gate.unchecked),
        ("stale entry", "stale entries"): len(gate.stale),
        ("unmatched entry", "unmatched entries"): len(gate.unmatched),
        ("expired entry", "expired entries"): len(gate.expired),
    }
    counts = ", ".join(f"{number} {one if number == 1 else many}" for (one, many), number in closing.items() if number)
    expected = len(gate.expected)
    known = f"; {expected} expected failure{'' if expected == 1 else 's'}" if expected else ""
    if gate.passes:
        return f"{paint('green', 'the gate is open')}{known}\n"
    return f"{paint('red', 'the gate is closed')}: {counts}{known}\n"
