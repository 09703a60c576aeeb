"""What a schema still says behind a gateway: the same in other words is right, and what a provider refuses must go."""

from typing import Any, Final

from conformance import fidelity, load_profile
from conformance.fidelity.examples import example
from conformance.fidelity.facts._schemas import losses
from conformance.results import Level, Status
from conformance.suite.options import on_wire
from tests.loops import every

SAME: tuple[tuple[str, dict[str, Any], dict[str, Any], bool], ...] = (
    ("order of required", {"required": ["a", "b"]}, {"required": ["b", "a"]}, False),
    ("order of values", {"enum": ["x", "y"]}, {"enum": ["y", "x"]}, False),
    ("capitals of types", {"type": "string"}, {"type": "STRING"}, False),
    ("counts as text", {"maxItems": 7}, {"maxItems": "7"}, True),
    ("numbers as text", {"enum": [1, 2]}, {"enum": ["1", "2"]}, True),
    ("null as a type", {"type": ["string", "null"]}, {"type": "string", "nullable": True}, False),
    ("null as an alternative", {"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
    ("nullable as a type", {"type": "string", "nullable": True}, {"type": ["string", "null"]}, False),
    ("alternatives as types", {"anyOf": [{"type": "null"}, {"type": "string"}]}, {"type": ["string", "null"]}, False),
    ("a constant as the only value", {"const": "a"}, {"enum": ["a"]}, False),
    ("one of as any of", {"oneOf": [{"type": "string"}]}, {"anyOf": [{"type": "STRING"}]}, False),
    ("exclusive of integers", {"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}, False),
    ("additions", {"type": "object"}, {"type": "object", "additionalProperties": False, "properties": {}}, False),
    ("nothing said", {"properties": {}, "items": {}}, {}, False),
    (
        "references put in place",
        {"properties": {"at": {"$ref": "#/$defs/city"}}, "$defs": {"city": {"type": "string"}}},
        {"properties": {"at": {"type": "string"}}},
        False,
    ),
    (
        "definitions by another name",
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}},
        {"items": {"$ref": "#/definitions/b"}, "definitions": {"b": {"type": "string"}}},
        False,
    ),
)

LESS: tuple[tuple[str, dict[str, Any], dict[str, Any], str], ...] = (
    ("a required one", {"required": ["a", "b"]}, {"required": ["a"]}, "required"),
    ("a value", {"enum": ["x", "y"]}, {"enum": ["x"]}, "enum"),
    ("a value in capitals", {"enum": ["x"]}, {"enum": ["X"]}, "enum"),
    ("a pattern in capitals", {"pattern": "[a-z]"}, {"pattern": "[A-Z]"}, "pattern"),
    ("a property named title", {"properties": {"title": {"type": "string"}}}, {"properties": {}}, "properties"),
    ("a branch", {"anyOf": [{"type": "string"}, {"type": "number"}]}, {"anyOf": [{"type": "string"}]}, "anyOf"),
    ("null", {"type": ["string", "null"]}, {"type": "string"}, "type"),
    ("a limit in items", {"items": {"minimum": 1}}, {"items": {}}, "minimum"),
    (
        "definitions that are referred to",
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}},
        {"items": {"$ref": "#/$defs/a"}},
        "type",
    ),
    ("a schema of further properties", {"additionalProperties": {"type": "string"}}, {}, "additionalProperties"),
)


@every(("name", "before", "after", "is_part"), SAME, ids=str)
def test_other_words_for_the_same_are_no_loss(
    name: str, before: dict[str, Any], after: dict[str, Any], *, is_part: bool
) -> None:
    assert list(losses(before, after, is_part=is_part)) == [], name


@every(("name", "before", "after", "keyword"), LESS, ids=str)
def test_what_is_no_longer_said_is_a_loss(
    name: str, before: dict[str, Any], after: dict[str, Any], keyword: str
) -> None:
    assert [each.keyword for each in losses(before, after)] == [keyword], name


def test_a_schema_that_refers_to_itself_is_compared_once() -> None:
    node = {"properties": {"next": {"$ref": "#"}, "deep": {"$ref": "#/properties/deep"}}}
    assert list(losses(node, node)) == []


_FRONT: Final = "/0/front/request/tools/0/function/parameters"
_BACK: Final = "/0/backs/0/request/tools/0/functionDeclarations/0"


def _levels(edits: dict[str, Any]) -> list[tuple[Level | None, str]]:
    session = example("tool-to-gemini", edits).session()
    found = fidelity.judge(session, on_wire(load_profile("gemini"), "gemini"))
    return [
        (each.level, each.message) for outcome in found if outcome.status is Status.FAILED for each in outcome.findings
    ]


def test_a_keyword_that_gemini_refuses_in_parameters_is_a_should() -> None:
    ((level, message),) = _levels({f"{_FRONT}/additionalProperties": False})
    assert level is Level.SHOULD
    assert "expected /additionalProperties of the parameters of get_weather as it was, False, got None" in message
    assert "; Gemini takes it in parametersJsonSchema alone" in message
    for keyword, value in (
        ("not", {"type": "null"}),
        ("multipleOf", 2),
        ("patternProperties", {"a": {"type": "string"}}),
    ):
        assert [Level.SHOULD] == [level for level, _ in _levels({f"{_FRONT}/{keyword}": value})]


def test_where_gemini_takes_any_schema_a_dropped_keyword_is_a_must() -> None:
    raw = {"name": "get_weather", "description": "Tells the weather in a city.", "parametersJsonSchema": {}}
    levels = _levels({f"{_FRONT}": {"type": "object", "additionalProperties": False}, _BACK: raw})
    assert [Level.MUST, Level.MUST] == [level for level, _ in levels]


def test_what_a_provider_refuses_and_takes_nowhere_else_must_go() -> None:
    front = "/0/front/request/tools/0/input_schema/oneOf"
    given = example("settings", {front: [{"required": ["city"]}]}).session()
    openai, mistral = load_profile("openai"), load_profile("mistral")
    assert [] == [each.rule for each in fidelity.judge(given, openai) if each.status is Status.FAILED]
    assert ["gateway/schemas-kept"] == [
        each.rule for each in fidelity.judge(given, mistral) if each.status is Status.FAILED
    ]
