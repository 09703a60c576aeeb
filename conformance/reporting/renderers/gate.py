"""Report of the gate for people: what closes it, each with the mend, and what is known and excused."""

from collections.abc import Callable, Iterator

from conformance.baseline import Entry
from conformance.gate import Fact, Judgement
from conformance.reporting.text import printable


def render(judgement: Judgement, paint: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the report line by line; the last one says whether the gate is open."""
    for fact in judgement.errored:
        yield f"{paint('red', 'errored')} {_fact(fact)}\n    this project is at fault; nothing excuses it\n"
    for fact in judgement.unexpected:
        yield f"{paint('red', 'unexpected')} {_fact(fact)}\n"
    for name, note in judgement.idle:
        told = f": {note}" if note else ""
        yield f"{paint('red', 'judged nothing')} {printable(name + told)}\n"
    for entry in judgement.mended:
        yield f"{paint('red', 'passes, though expected to fail')} {_entry(entry)}\n    take the entry away\n"
    for entry in judgement.unmatched:
        yield f"{paint('red', 'matches nothing')} {_entry(entry)}\n    mend the pattern, or take the entry away\n"
    for entry in judgement.ended:
        yield f"{paint('red', f'ended on {entry.until}')} {_entry(entry)}\n    see whether it still fails, and why\n"
    for fact, entry in judgement.expected:
        yield f"{paint('yellow', 'expected')} {_fact(fact)}\n    {printable(entry.reason)} {printable(entry.link)}\n"
    yield _verdict(judgement, paint)


def _fact(fact: Fact) -> str:
    at = f" at {fact.at}" if fact.at else ""
    told = f": {fact.message}" if fact.message else f": {fact.status.value}"
    return printable(f"{fact.names[0]}{at}{told}")


def _entry(entry: Entry) -> str:
    line = f" (line {entry.line})" if entry.line else ""
    return printable(f"{entry.match}{line}: {entry.reason}")


def _verdict(judgement: Judgement, paint: Callable[[str, str], str]) -> str:
    closing = {
        "errored": judgement.errored,
        "unexpected": judgement.unexpected,
        "judged nothing": judgement.idle,
        "mended": judgement.mended,
        "unmatched": judgement.unmatched,
        "ended": judgement.ended,
    }
    counts = ", ".join(f"{len(each)} {name}" for name, each in closing.items() if each)
    known = f"; {len(judgement.expected)} expected" if judgement.expected else ""
    if judgement.passes:
        return f"{paint('green', 'the gate is open')}{known}\n"
    return f"{paint('red', 'the gate is closed')}: {counts}{known}\n"
