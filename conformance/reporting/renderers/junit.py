"""Annotations as JUnit XML: a suite per input or case, a test per check; an expected failure is a skipped test.

The form is that of pytest and of Ant's JUnit task: failures and errors have a message, and a text with their places.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET

from conformance.reporting.matrix.annotations import Annotation, AnnotationKind, inputs_as, of_input
from conformance.reporting.text import printable_lines

EVERY: Final = True
"""Passed checks are included: a suite of failures alone would read as if nothing passed."""

LINES: Final = True
"""A test needs a line."""

_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 forbids, even escaped; source: https://www.w3.org/TR/xml/#charsets."""

_ELEMENTS: Final = {
    AnnotationKind.FAILED: "failure",
    AnnotationKind.ERRORED: "error",
    AnnotationKind.EXPECTED: "skipped",
    AnnotationKind.NOTED: "system-out",
}
_COUNTED: Final = {
    "failures": AnnotationKind.FAILED,
    "errors": AnnotationKind.ERRORED,
    "skipped": AnnotationKind.EXPECTED,
}
_WORST_FIRST: Final = (
    AnnotationKind.ERRORED,
    AnnotationKind.FAILED,
    AnnotationKind.EXPECTED,
    AnnotationKind.NOTED,
    AnnotationKind.PASSED,
)


def render(annotations: Iterable[Annotation]) -> Iterator[str]:
    """Yield the document, a suite at a time; the annotations of a suite have to be consecutive.

    A note is a test that passes, with the note as its output. Only suites have totals: traffic may have any size, and
    is not held in memory.
    """
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="conformance">\n'
    for name, group in groupby(annotations, key=lambda annotation: annotation.suite):
        suite = _suite(name, group)
        ET.indent(suite, level=1)
        yield f"  {ET.tostring(suite, encoding='unicode')}\n"
    yield "</testsuites>\n"


part: Final = of_input
render_inputs: Final = inputs_as(render)


def _suite(name: str, annotations: Iterable[Annotation]) -> ET.Element:
    tests: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        tests.setdefault(annotation.check, []).append(annotation)
    endings = [_worst(each) for each in tests.values()]
    counts = {name: str(endings.count(kind)) for name, kind in _COUNTED.items()}
    suite = ET.Element("testsuite", {"name": _clean(name), "tests": str(len(tests)), **counts})
    wire = next((each.protocol for every in tests.values() for each in every if each.protocol), "")
    if wire:
        ET.SubElement(ET.SubElement(suite, "properties"), "property", {"name": "protocol", "value": wire})
    suite.extend([_test(name, check, each) for check, each in tests.items()])
    return suite


def _test(suite: str, check: str, annotations: list[Annotation]) -> ET.Element:
    test = ET.Element("testcase", classname=_clean(suite), name=_clean(check))
    location = annotations[0].location
    if location.path:
        test.set("file", _clean(location.path))
    if location.line is not None:
        test.set("line", str(location.line))
    worst = _worst(annotations)
    if worst is not AnnotationKind.PASSED:
        test.append(_ending(worst, [each for each in annotations if each.kind is not AnnotationKind.PASSED]))
    return test


def _ending(worst: AnnotationKind, annotations: list[Annotation]) -> ET.Element:
    first = next(each for each in annotations if each.kind is worst)
    ending = ET.Element(_ELEMENTS[worst])
    if worst is AnnotationKind.EXPECTED:
        ending.attrib |= {"type": "expected failure", "message": _clean(first.reason)}
    elif worst is not AnnotationKind.NOTED:
        ending.attrib |= {"type": first.level.value, "message": _clean(first.message)}
    ending.text = _clean("\n".join([_line(each) for each in annotations]))
    return ending


def _line(annotation: Annotation) -> str:
    path, number = annotation.location
    line = "" if number is None else f":{number}"
    at = f" at {annotation.at}" if annotation.at else ""
    side = f" ({annotation.side})" if annotation.side else ""
    return f"{path}{line}: {annotation.level.value}{side}{at}: {annotation.message}"


def _worst(annotations: Iterable[Annotation]) -> AnnotationKind:
    # min: the worst has the lowest index.
    return min([each.kind for each in annotations], key=_WORST_FIRST.index)


def _clean(text: str) -> str:
    """Return a text without the characters that XML forbids and what would control a terminal or a workflow."""
    return printable_lines(_FORBIDDEN.sub(lambda found: repr(found.group())[1:-1], text))
