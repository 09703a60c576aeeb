"""Report as JUnit XML: a suite for each input or case, a test for each fact; what is expected to fail is skipped.

The form is that of pytest and of the JUnit task of Ant: failures and errors with a message, and text that says where.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final
from xml.etree import ElementTree as ET

from conformance.reporting.matrix.annotations import Kind, Remark, of_inputs

EVERY: Final = True
"""A suite of failures alone would say that nothing passed."""

LINES: Final = True
"""A test has a line."""

_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped; source: https://www.w3.org/TR/xml/#charsets."""

_ELEMENTS: Final = {Kind.FAILED: "failure", Kind.ERRORED: "error", Kind.EXPECTED: "skipped", Kind.NOTED: "system-out"}
_COUNTED: Final = {"failures": Kind.FAILED, "errors": Kind.ERRORED, "skipped": Kind.EXPECTED}
_WORST_FIRST: Final = (Kind.ERRORED, Kind.FAILED, Kind.EXPECTED, Kind.NOTED, Kind.PASSED)


def render_inputs(
    inputs: Iterable[Mapping[str, Any]],
    _summary: Callable[[], Mapping[str, Any]],
    _paint: Callable[[str, str], str],
) -> Iterator[str]:
    """Yield the report on judged inputs, a suite as soon as its input is judged."""
    yield from render(of_inputs(inputs))


def render(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield the document, a suite at a time, for which its remarks stand together.

    What is noted is a test that passes, with the note as its output. The sums stand at each suite and not above them:
    traffic may be of any size, and none of it is held in memory.
    """
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="conformance">\n'
    for name, together in groupby(remarks, key=lambda remark: remark.suite):
        suite = _suite(name, together)
        ET.indent(suite, level=1)
        yield f"  {ET.tostring(suite, encoding='unicode')}\n"
    yield "</testsuites>\n"


def _suite(name: str, remarks: Iterable[Remark]) -> ET.Element:
    tests: dict[str, list[Remark]] = {}
    for remark in remarks:
        tests.setdefault(remark.fact, []).append(remark)
    endings = [_worst(each) for each in tests.values()]
    counts = {name: str(endings.count(kind)) for name, kind in _COUNTED.items()}
    suite = ET.Element("testsuite", {"name": _clean(name), "tests": str(len(tests)), **counts})
    suite.extend([_test(name, fact, each) for fact, each in tests.items()])
    return suite


def _test(suite: str, fact: str, remarks: list[Remark]) -> ET.Element:
    test = ET.Element("testcase", classname=_clean(suite), name=_clean(fact))
    place = remarks[0].place
    if place.path:
        test.set("file", _clean(place.path))
    if place.line is not None:
        test.set("line", str(place.line))
    worst = _worst(remarks)
    if worst is not Kind.PASSED:
        test.append(_ending(worst, [each for each in remarks if each.kind is not Kind.PASSED]))
    return test


def _ending(worst: Kind, remarks: list[Remark]) -> ET.Element:
    first = next(each for each in remarks if each.kind is worst)
    ending = ET.Element(_ELEMENTS[worst])
    if worst is Kind.EXPECTED:
        ending.attrib |= {"type": "expected failure", "message": _clean(first.excuse)}
    elif worst is not Kind.NOTED:
        ending.attrib |= {"type": first.level.value, "message": _clean(first.message)}
    ending.text = _clean("\n".join([_told(each) for each in remarks]))
    return ending


def _told(remark: Remark) -> str:
    line = "" if remark.place.line is None else f":{remark.place.line}"
    at = f" at {remark.at}" if remark.at else ""
    return f"{remark.place.path}{line}: {remark.level.value}{at}: {remark.message}"


def _worst(remarks: Iterable[Remark]) -> Kind:
    return min([each.kind for each in remarks], key=_WORST_FIRST.index)


def _clean(text: str) -> str:
    """Return a text with the characters spelled out that XML forbids."""
    return _FORBIDDEN.sub(lambda found: repr(found.group())[1:-1], text)
