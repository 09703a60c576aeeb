"""Tool arguments judged by parameters that may be anything: never an exception, never the network, never for long."""

from typing import Any

import pytest

from conformance.schemas import argument_errors
from tests.hanging import ends
from tests.loops import every

CITY = {"type": "object", "properties": {"city": {"type": "string", "minLength": 1}}, "required": ["city"]}
NESTED = {"properties": {"c": {"$ref": "#/$defs/c"}}, "$defs": {"c": CITY}}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}


@pytest.mark.parametrize(
    ("parameters", "arguments", "expected"),
    [
        (CITY, {"city": "Paris"}, ()),
        (CITY, {}, ('expected the key "city", got no keys',)),
        (CITY, {"city": 3}, ("at /city: expected a string, got 3",)),
        (CITY, "Paris", ('expected an object, got "Paris"',)),
        ({**CITY, "additionalProperties": False}, {"city": "Rome", "x": 1}, ('expected no further keys, got "x"',)),
        (NESTED, {"c": {"city": ""}}, ('at /c/city: expected at least 1 character, got ""',)),
        ({"pattern": "^[a-z]+$"}, "X", ('expected text that matches ^[a-z]+$, got "X"',)),
        (DRAFT_7, [1], ("at /0: expected a string, got 1",)),
    ],
)
def test_arguments_are_judged_by_the_parameters(parameters: Any, arguments: Any, expected: tuple[str, ...]) -> None:
    assert expected == argument_errors(parameters, arguments)


DOUBLING = {f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(60)}
UNJUDGEABLE = {
    "null": None,
    "a type that is none": {"type": "strange"},
    "a draft-04 bound": {"type": "number", "exclusiveMinimum": True},
    "a remote reference": {"$ref": "http://127.0.0.1:1/schema.json"},
    "a reference that leads nowhere": {"$ref": "#/$defs/nothing"},
    "a reference that is not an address": {"$ref": "http://[/"},
    "an unknown dialect": {"$schema": "http://127.0.0.1:1/dialect", "$ref": "http://127.0.0.1:1/schema.json"},
    "a dialect that is not text": {"$schema": 3},
    "a pattern that is none": {"pattern": "("},
    "a pattern key that is none": {"patternProperties": {"(": False}},
    "a pattern that looks around": {"pattern": "^(?!x)y"},
    "a circle": {"$ref": "#"},
    "a circle that branches": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
    "a circle of unevaluated keys": {"$ref": "#", "unevaluatedProperties": False},
    "doubling references": {"$ref": "#/$defs/a0", "$defs": {**DOUBLING, "a60": {"type": "string"}}},
    "a set, which is not JSON": {1, 2},
}


@every("parameters", UNJUDGEABLE.values(), ids=UNJUDGEABLE.keys())
def test_parameters_that_cannot_be_judged_by_are_passed_over(parameters: Any) -> None:
    with ends():
        for arguments in ({"a": 1}, "a", 1, None):
            assert isinstance(argument_errors(parameters, arguments), tuple)


def test_what_stands_beside_a_dead_reference_is_judged() -> None:
    parameters = {"properties": {"a": {"$ref": "#/nowhere"}, "b": {"type": "string"}}}
    assert argument_errors(parameters, {"a": 1, "b": 2}) == ("at /b: expected a string, got 2",)


@pytest.mark.parametrize(
    ("parameters", "number"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, 1),
        ({"propertyNames": {"pattern": "^(a+)+$"}}, 1),
        ({"patternProperties": {"^(a+)+$": {"type": "integer"}}, "required": ["b"]}, 2),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, 1),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": {"type": "integer"}}, 1),
        ({"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False, "required": ["b"]}, 1),
    ],
    ids=repr,
)
def test_a_pattern_that_backtracks_without_end_costs_no_time(parameters: Any, number: int) -> None:
    with ends():
        found = argument_errors(parameters, {"a": "a" * 60 + "!", "a" * 60 + "!": "x"})
    assert number == len(found)


def test_no_more_than_twenty_faults_of_one_call_are_told() -> None:
    assert len(argument_errors({"items": {"type": "string"}}, list(range(100)))) == 20
