"""JSON Schemas of tools and of structured output, as the provider accepts them."""

from collections.abc import Iterator
from typing import Any, Final

from conformance.documents.pointer import Place, value_at
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.rules.tool_parameters import is_array, parts
from conformance.wire.values import as_object

ORDER: Final = 35
RULES: Final = (
    "request/tool*",
    "request/response-format*",
    "shape/tool-definition",
    "native/request-shape",
    "shape/request",
    "shape/tool-call",
)

_SCHEMAS: Final = frozenset({"parameters", "schema", "input_schema"})


def candidates(problem: ClientProblem) -> Iterator[Candidate]:
    """Yield requests with the schema at the place of the finding completed, or the tool in the form of its wire."""
    for title, steps in _STEPS:
        request = problem.editable()
        holder, key = _schema_of(request, problem.place)
        if holder is not None and any([step(holder, key) for step in steps]):
            yield Candidate(request, title)
    if problem.exchange.protocol == "gemini":
        request = problem.editable()
        holder, key = _schema_of(request, problem.place)
        if key == "parameters" and "parameters" in holder:
            holder["parametersJsonSchema"] = holder.pop("parameters")
            yield Candidate(request, "send the parameters as JSON Schema, not as Gemini's part of it", whole=True)
    for at in range(len(problem.place), 0, -1):
        request = problem.editable()
        value = value_at(request, problem.place[:at])
        if isinstance(value, dict) and _in_the_other_form(value):
            yield Candidate(request, "send the function in the form of this wire", whole=True)


def _schema_of(request: Any, place: Place) -> tuple[Any, str]:
    """Return what holds the schema that a place is in or holds, and its key."""
    ends = [number for number, token in enumerate(place) if token in _SCHEMAS]
    if ends:
        return value_at(request, place[: ends[0]]), str(place[ends[0]])
    for holder in (value_at(request, place), value_at(request, (*place, "function"))):
        key = next((each for each in _SCHEMAS if isinstance(holder, dict) and each in holder), "")
        if key:
            return holder, key
    # A tool without parameters has no schema yet.
    for holder in (value_at(request, (*place, "function")), value_at(request, place)):
        if isinstance(holder, dict) and "name" in holder:
            return holder, "parameters"
    return None, ""


def _in_the_other_form(tool: dict[str, Any]) -> bool:
    """Turn a function of chat completions into one of Responses, or the other way round."""
    if tool.get("type", "function") != "function":
        return False
    function = tool.pop("function", None)
    if isinstance(function, dict):
        tool.update(function)
    else:
        tool["function"] = {key: tool.pop(key) for key in [*tool] if key not in ("type", "id")}
    return True


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
    schema = holder.get(key)
    if not schema or not isinstance(schema, dict):
        holder[key] = {"type": "object", "properties": {}}
        return True
    found = [each for each in _objects(schema) if "properties" not in each]
    for each in found:
        each["properties"] = {}
    return bool(found)


def _closed(holder: dict[str, Any], key: str) -> bool:
    found = [each for each in _objects(holder.get(key)) if each.get("additionalProperties") is not False]
    for each in found:
        each["additionalProperties"] = False
    return bool(found)


def _all_required(holder: dict[str, Any], key: str) -> bool:
    found = [
        each for each in _objects(holder.get(key)) if set(each.get("required", ())) != set(each.get("properties", ()))
    ]
    for each in found:
        each["required"] = list(each.get("properties", ()))
    return bool(found)


def _with_items(holder: dict[str, Any], key: str) -> bool:
    found = [part for _, part in parts(as_object(holder.get(key))) if is_array(part) and "items" not in part]
    for part in found:
        part["items"] = {}
    return bool(found)


def _declared_alone(holder: dict[str, Any], key: str) -> bool:
    """Require no property that is not declared."""
    changed = False
    for _, part in parts(as_object(holder.get(key))):
        required, properties = part.get("required"), as_object(part.get("properties"))
        if isinstance(required, list) and any(name not in properties for name in required):
            part["required"] = [name for name in required if name in properties]
            changed = True
    return changed


def _typed_branches(holder: dict[str, Any], key: str) -> bool:
    """Write the type beside `anyOf` into its branches."""
    found = [
        part for _, part in parts(as_object(holder.get(key))) if "type" in part and isinstance(part.get("anyOf"), list)
    ]
    for part in found:
        kind = part.pop("type")
        part["anyOf"] = [{"type": kind, **each} if isinstance(each, dict) else each for each in part["anyOf"]]
    return bool(found)


def _without_strict(holder: dict[str, Any], _key: str) -> bool:
    return holder.pop("strict", None) is not None


_STEPS: Final = (
    ("let each array have items of any kind", (_with_items,)),
    ("write the type into each branch", (_typed_branches,)),
    ("require only properties that are declared", (_declared_alone,)),
    ("say that there are no properties", (_with_properties,)),
    ("allow no other properties", (_closed,)),
    ("require every property", (_all_required,)),
    ("allow no other properties, and require every one", (_closed, _all_required)),
    ("do not ask for the strict mode", (_without_strict,)),
)
