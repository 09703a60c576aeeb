"""Tests that loop over data: one test for one fact, however many rules, profiles or files show it.

A parameter of pytest costs some milliseconds to collect and to report, which for thousands is most of a run.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from itertools import repeat
from reprlib import repr as short
from typing import Any, NamedTuple

import pytest

Test = Callable[..., None]

FAILURES = (Exception, pytest.fail.Exception, pytest.skip.Exception)
"""What may end the test of one datum. A loop would hide what it skips, so a skip counts as a failure."""

PART = "part"
USUAL = "usual"


class Datum(NamedTuple):
    """Arguments of a test, what a failure calls them, and their marks."""

    arguments: Mapping[str, Any]
    id: str
    marks: Sequence[pytest.MarkDecorator | pytest.Mark] = ()


def every(
    names: str | tuple[str, ...], data: Iterable[Any], ids: Callable[[Any], object] | Iterable[str] = short
) -> Callable[[Test], Test]:
    """Call a test with each datum, given as to `pytest.mark.parametrize`, and report all failures with their data.

    The data share the fixtures of the test. Data with the same marks, such as `exhaustive`, are one test.
    """
    parameters = (names,) if isinstance(names, str) else names
    parts: dict[str, list[Datum]] = {}
    word, names_of_data = (ids, repeat(None)) if callable(ids) else (short, ids)
    for each, name in zip(data, names_of_data, strict=not callable(ids)):
        datum = _datum(parameters, each, name, word)
        parts.setdefault("-".join(mark.name for mark in datum.marks) or USUAL, []).append(datum)
    assert parts, f"there are no data for {names}, so nothing would be tested"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in parameters]

        @wraps(test)
        def loop(**given: Any) -> None:
            _call(test, parts[given.pop(PART, USUAL)], given)

        if [USUAL] == list(parts):
            loop.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
            return loop
        fixtures.append(inspect.Parameter(PART, inspect.Parameter.KEYWORD_ONLY))
        loop.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        cases = [pytest.param(name, id=name, marks=part[0].marks) for name, part in parts.items()]
        divided: Test = pytest.mark.parametrize(PART, cases)(loop)
        return divided

    return decorate


def _datum(parameters: Sequence[str], given: Any, name: str | None, word: Callable[[Any], object]) -> Datum:
    """Return a datum of values, of the only value, or of a `pytest.param`."""
    if not isinstance(given, type(pytest.param())):
        given = pytest.param(*(given if len(parameters) > 1 else (given,)), id=name)
    arguments = dict(zip(parameters, given.values, strict=True))
    return Datum(arguments, str(given.id or "-".join(str(word(value)) for value in given.values)), tuple(given.marks))


def _call(test: Test, data: Sequence[Datum], fixtures: Mapping[str, Any]) -> None:
    failures: dict[str, BaseException] = {}
    for number, datum in enumerate(data, 1):
        try:
            test(**datum.arguments, **fixtures)
        except FAILURES as failure:
            name = f"{datum.id} ({number} of {len(data)})"
            failure.add_note(f"with {name}")
            failures[name] = failure
    if failures:
        message = f"{len(failures)} of {len(data)} fail: {', '.join(failures)}"
        raise BaseExceptionGroup(message, list(failures.values()))
