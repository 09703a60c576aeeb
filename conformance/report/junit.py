"""Report as JUnit XML: a suite for each input or case, a test for each fact; what is expected to fail is skipped.

The form is that of pytest and of the JUnit task of Ant: failures and errors with a message, and text that says where.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from conformance.matrix.remarks import Kind, Remark, of_inputs

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
    """Yield the report on judged inputs, at their end: what stands first are the sums."""
    yield from render(of_inputs(inputs))


def render(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield the document. What is noted is a test that passes, with the note as its output."""
    suites: dict[str, dict[str, list[Remark]]] = {}
    for remark in remarks:
        suites.setdefault(remark.suite, {}).setdefault(remark.fact, []).append(remark)
    root = ET.Element("testsuites", name="conformance")
    for name, tests in suites.items():
        root.append(_suite(name, tests))
    _count(root, [_worst(tests) for suite in suites.values() for tests in suite.values()])
    ET.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield ET.tostring(root, encoding="unicode") + "\n"


def _suite(name: str, tests: Mapping[str, list[Remark]]) -> ET.Element:
    suite = ET.Element("testsuite", name=_clean(name))
    _count(suite, [_worst(remarks) for remarks in tests.values()])
    for fact, remarks in tests.items():
        suite.append(_test(name, fact, remarks))
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


def _count(element: ET.Element, endings: list[Kind]) -> None:
    element.set("tests", str(len(endings)))
    for name, kind in _COUNTED.items():
        element.set(name, str(endings.count(kind)))


def _worst(remarks: Iterable[Remark]) -> Kind:
    return min([each.kind for each in remarks], key=_WORST_FIRST.index)


def _clean(text: str) -> str:
    """Return a text with the characters spelled out that XML forbids."""
    return _FORBIDDEN.sub(lambda found: repr(found.group())[1:-1], text)
