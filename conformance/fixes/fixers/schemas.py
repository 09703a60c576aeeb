"""JSON Schemas of tools and of structured output, as the provider accepts them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.fixes.problem import Candidate, Problem

ORDER: Final = 45
RULES: Final = ("request/tool*", "request/response-format*", "shape/tool-definition", "native/request-shape")

_SCHEMAS: Final = frozenset({"parameters", "schema", "input_schema"})


def candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield requests with the schema at the place of the finding completed."""
    place = problem.place
    ends = [number for number, token in enumerate(place) if token in _SCHEMAS]
    root = place[: ends[0] + 1] if ends else place
    for complete in (_with_properties, _closed, _all_required, _without_strict):
        request = deepcopy(problem.request)
        holder = _holder(request, root)
        if holder is not None and complete(holder, str(root[-1])):
            yield Candidate(request, complete.__doc__ or "")
    for rounds in (2,):
        request = deepcopy(problem.request)
        holder = _holder(request, root)
        if holder is not None and [_closed(holder, str(root[-1])), _all_required(holder, str(root[-1]))] and rounds:
            yield Candidate(request, "close the schema and require every property")


def _holder(value: Any, place: Place) -> dict[str, Any] | None:
    for token in place[:-1]:
        value = value[token]
    return value if isinstance(value, dict) and place and place[-1] in value else None


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object" or "properties" in schema:
            yield schema
        for each in schema.values():
            yield from _objects(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _objects(each)


def _with_properties(holder: dict[str, Any], key: str) -> bool:
    """say that there are no properties"""
    schema = holder[key]
    if not schema or not isinstance(schema, dict):
        holder[key] = {"type": "object", "properties": {}}
        return True
    found = [each for each in _objects(schema) if "properties" not in each]
    for each in found:
        each["properties"] = {}
    return bool(found)


def _closed(holder: dict[str, Any], key: str) -> bool:
    """allow no other properties"""
    found = [each for each in _objects(holder[key]) if each.get("additionalProperties") is not False]
    for each in found:
        each["additionalProperties"] = False
    return bool(found)


def _all_required(holder: dict[str, Any], key: str) -> bool:
    """require every property"""
    found = [each for each in _objects(holder[key]) if set(each.get("required", ())) != set(each.get("properties", ()))]
    for each in found:
        each["required"] = list(each.get("properties", ()))
    return bool(found)


def _without_strict(holder: dict[str, Any], _key: str) -> bool:
    """do not ask for the strict mode"""
    return holder.pop("strict", None) is not None
