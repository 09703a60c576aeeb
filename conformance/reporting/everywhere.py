"""The answers of all providers to an input, as a table for people and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from conformance.files.everywhere import Everywhere, HostAnswer, HostVerdict
from conformance.formats.inputs import KINDS
from conformance.reporting.text import Paint, plural, printable, shorten

_COLOURS: Final = {
    HostVerdict.REFUSED: "red",
    HostVerdict.LOST: "red",
    HostVerdict.UNKNOWN: "yellow",
    HostVerdict.ACCEPTED: "green",
}
_MAX_WORDS: Final = 160


def text(found: Everywhere, paint: Paint) -> Iterator[str]:
    """Yield the lines of one input: what it is, a row for each provider, the worst first, and the counts."""
    given = found.given
    place = given.path if given.line is None else f"{given.path}:{given.line}"
    model = f", {printable(found.model)}" if found.model else ""
    yield f"{paint('bold', printable(place))}: {KINDS.get(given.kind, given.kind)} ({found.protocol}){model}"
    width = max([len(each.provider) for each in found.answers], default=0)
    for answer in found.answers:
        label = paint(_COLOURS[answer.verdict], f"{answer.verdict.value:{len(HostVerdict.LOST.value)}}")
        mark = "*" if answer.serves else " "
        yield f"  {answer.provider:{width}}{mark} {label}  {_words(answer, found.protocol)}".rstrip()
    if found.left:
        yield f"{plural(found.left, 'earlier request')} not prepared for other wires: the session is too long"
    counts = Counter([each.verdict for each in found.answers])
    shown = [f"{counts[verdict]} {verdict.value}" for verdict in HostVerdict if counts[verdict]]
    yield f"{plural(len(found.answers), 'provider')}: {', '.join(shown)}" + (
        f"; * is known to serve {printable(found.model)}" if any(each.serves for each in found.answers) else ""
    )


def _words(answer: HostAnswer, wire: str) -> str:
    way = "" if answer.wire == wire else f"prepared for {answer.wire}"
    status = "" if answer.status is None else f"{answer.status}: "
    words = shorten(printable(f"{status}{answer.words}"), _MAX_WORDS)
    where = f" ({answer.rule} at {printable(answer.at)})" if answer.rule and answer.at else ""
    return "; ".join([each for each in (way, f"{words}{where}") if each])


def json(found: Iterable[Everywhere]) -> str:
    """Return one object: the inputs, each with the answers of all providers."""
    inputs = [_input(each) for each in found]
    return orjson.dumps({"inputs": inputs}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _input(found: Everywhere) -> dict[str, Any]:
    given = found.given
    about = {"path": given.path, "line": given.line, "kind": given.kind, "protocol": found.protocol}
    about |= {"left": found.left} if found.left else {}
    return {**about, "model": found.model or None, "providers": [_row(each) for each in found.answers]}


def _row(answer: HostAnswer) -> dict[str, Any]:
    return {name: value for name, value in answer._asdict().items() if value not in ("", None)}
