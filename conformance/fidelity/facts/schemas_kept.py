"""Fact: the parameters of a tool arrive with everything that their schema says."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import Place, render
from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind
from conformance.wire.values import as_object

_NOTES: Final = ("$schema", "$id", "$comment", "title", "examples", "default", "strict")
"""Members that say nothing about what is valid."""


@fact(
    Level.MUST,
    element="tool with parameters",
    on=kept(Kind.TOOL),
    of=REQUESTS,
    source=Source("https://json-schema.org/understanding-json-schema/reference"),
    bad=[example("settings", {"/0/backs/0/request/tools/0/function/parameters/required": REMOVE})],
    good=[example("settings", {"/0/backs/0/request/tools/0/function/parameters/additionalProperties": False})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """The parameters of a tool arrive with everything that their schema says.

    A model fills in what the schema names: without a property, a list of values or `required`, it guesses. To fix it,
    pass schemas on as they are, and change only what the other wire cannot hold. What only describes is a SHOULD.
    """
    before, after = each.before, each.after
    if after is None:
        return
    schema, got = as_object(before.value.get("parameters")), after.value.get("parameters")
    for place, message in _losses(schema, as_object(got), ()):
        level = Level.SHOULD if place[-1] in _NOTES else None
        at = passage.at(before)
        text = f"expected {render(place)} of the parameters of {before.name} {message}"
        yield PassageLoss(text, at, passage.at_after(after), level)


def _losses(before: Mapping[str, Any], after: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, str]]:
    for key, value in before.items():
        at: Place = (*place, key)
        got = after.get(key)
        if isinstance(value, dict):
            if value or key not in ("properties", "parameters"):
                yield from (
                    _losses(value, as_object(got), at) if isinstance(got, dict) else [(at, "as it was, got none")]
                )
        elif value not in ([], {}) and not _is_same(key, value, got) and not _says_types(key, value, after):
            yield at, f"as it was, {value!r:.60}, got {got!r:.60}"


def _is_same(key: str, value: Any, got: Any) -> bool:
    """Return whether a member is the same; a type may become one of several, such as null."""
    return _comparable(got) == _comparable(value) or (key == "type" and isinstance(got, list) and value in got)


def _says_types(key: str, value: Any, after: Mapping[str, Any]) -> bool:
    """Return whether several types are said in another way: as alternatives, or as one that is nullable."""
    if key != "type" or not isinstance(value, list):
        return False
    wanted = sorted([str(each).lower() for each in value])
    alternatives = after.get("anyOf", after.get("any_of"))
    if isinstance(alternatives, list):
        return wanted == sorted([str(as_object(each).get("type")).lower() for each in alternatives])
    return after.get("nullable") is True and wanted == sorted(["null", str(after.get("type")).lower()])


def _comparable(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value
