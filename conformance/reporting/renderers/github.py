"""Annotations as workflow commands, which GitHub shows beside the lines of a pull request.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, and for escaping
https://github.com/actions/toolkit, packages/core/src/command.ts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from conformance.reporting.matrix.annotations import Annotation, AnnotationKind, inputs_as, of_input
from conformance.reporting.text import printable
from conformance.results import Level

LINES: Final = True
"""An annotation needs a line."""

MAX_ANNOTATIONS: Final = 10
"""How many annotations of a kind GitHub shows for a step; the last line counts the others."""

_COMMANDS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "notice"}


def render(annotations: Iterable[Annotation]) -> Iterator[str]:
    """Yield a command for each annotation that is not a pass, up to the limit, and a line with the totals."""
    met: Counter[str] = Counter()
    for annotation in annotations:
        if annotation.kind is AnnotationKind.PASSED:
            continue
        command = _command(annotation)
        met[command] += 1
        if met[command] <= MAX_ANNOTATIONS:
            yield _line(command, annotation)
    totals = ", ".join(f"{met[name]} {name}{'s' * (met[name] > 1)}" for name in _COMMANDS.values() if met[name])
    left = sum(max(0, count - MAX_ANNOTATIONS) for count in met.values())
    yield f"conformance: {totals or 'no findings'}{f'; {left} not annotated' if left else ''}\n"


part: Final = of_input
render_inputs: Final = inputs_as(render)


def _command(annotation: Annotation) -> str:
    if annotation.kind is AnnotationKind.ERRORED:
        return "error"
    return "notice" if annotation.kind is AnnotationKind.EXPECTED else _COMMANDS[annotation.level]


def _line(command: str, annotation: Annotation) -> str:
    about = {
        "file": annotation.location.path,
        "line": annotation.location.line,
        "title": f"{annotation.check} {annotation.level.value}" + _responsible(annotation),
    }
    shown = ",".join([f"{name}={_property(str(value))}" for name, value in about.items() if value])
    expected = f"; expected: {annotation.reason}" if annotation.reason else ""
    return f"::{command} {shown}::{_data(annotation.text + expected)}\n"


def _responsible(annotation: Annotation) -> str:
    """Return the side that is responsible, and the wire that it spoke."""
    wire = f" on {annotation.protocol}" if annotation.protocol else ""
    return f" ({annotation.side}{wire})" if annotation.side else ""


def _data(text: str) -> str:
    # The percent sign first, or it would escape the escapes.
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
