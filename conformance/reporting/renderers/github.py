"""Report as workflow commands, which GitHub shows as annotations beside the lines of a pull request.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, and for the escapes the
functions of the same purpose in https://github.com/actions/toolkit, packages/core/src/command.ts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.reporting.matrix.annotations import Kind, Remark, of_inputs
from conformance.reporting.text import printable
from conformance.results import Level

LINES: Final = True
"""An annotation stands beside a line."""

MOST: Final = 10
"""How many annotations of a kind GitHub shows of one step; the rest is counted in the last line."""

_COMMANDS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "notice"}


def render_inputs(
    inputs: Iterable[Mapping[str, Any]],
    _summary: Callable[[], Mapping[str, Any]],
    _paint: Callable[[str, str], str],
) -> Iterator[str]:
    """Yield the report on judged inputs, a command a line."""
    yield from render(of_inputs(inputs))


def render(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield a command for each remark that is not a pass, as many as are shown, and a line with the sums."""
    met: Counter[str] = Counter()
    for remark in remarks:
        if remark.kind is Kind.PASSED:
            continue
        command = _command(remark)
        met[command] += 1
        if met[command] <= MOST:
            yield _line(command, remark)
    counts = ", ".join(f"{met[name]} {name}{'s' * (met[name] > 1)}" for name in _COMMANDS.values() if met[name])
    left = sum(max(0, count - MOST) for count in met.values())
    yield f"conformance: {counts or 'no findings'}{f'; {left} of them without annotation' if left else ''}\n"


def _command(remark: Remark) -> str:
    if remark.kind is Kind.ERRORED:
        return "error"
    return "notice" if remark.kind is Kind.EXPECTED else _COMMANDS[remark.level]


def _line(command: str, remark: Remark) -> str:
    about = {"file": remark.place.path, "line": remark.place.line, "title": f"{remark.fact} {remark.level.value}"}
    shown = ",".join([f"{name}={_property(str(value))}" for name, value in about.items() if value])
    at = f" at {remark.at}" if remark.at else ""
    excuse = f"; expected: {remark.excuse}" if remark.excuse else ""
    return f"::{command} {shown}::{_data(f'{remark.suite}{at}: {remark.message}{excuse}')}\n"


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
