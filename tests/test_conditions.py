"""Conditions of profiles: when a request makes a model think, and how a body is compared."""

from typing import Any

import pytest

from conformance import profiles
from tests.loops import every

THINKS: list[tuple[dict[str, Any], dict[str, Any], bool | None]] = [
    ({}, {}, None),
    ({"thinking.mode": "unknown"}, {}, None),
    ({"thinking.mode": "always"}, {"thinking": {"type": "disabled"}}, True),
    ({"thinking.mode": "never"}, {"thinking": {"type": "enabled"}}, False),
    ({"thinking.mode": "default-on"}, {}, True),
    ({"thinking.mode": "default-off"}, {}, False),
    ({"thinking.mode": "default-on"}, {"thinking": {"type": "disabled"}}, False),
    ({"thinking.mode": "default-off"}, {"thinking": {"type": "enabled"}}, True),
    ({"thinking.mode": "default-on"}, {"thinking": "disabled"}, True),
    ({"thinking.mode": "default-on"}, {"thinking": None}, True),
    ({"thinking.mode": "default-off"}, {"reasoning_effort": "high"}, True),
    ({"thinking.mode": "default-off"}, {"reasoning_effort": "none"}, False),
    ({"thinking.mode": "default-on"}, {"thinking": {"type": "disabled"}, "reasoning_effort": "high"}, False),
    ({}, {"thinking": {"type": "enabled"}}, True),
    ({"thinking.mode": "default-on", "thinking.switches": "unknown"}, {"reasoning_effort": "none"}, True),
]

SWITCHES = [
    {"at": "/thinking/type", "equals": "disabled", "thinks": False},
    {"at": "/thinking/type", "equals": "enabled", "thinks": True},
    {"at": "/reasoning_effort", "in": ["low", "high"], "thinks": True},
]


@every(("claims", "body", "expected"), THINKS)
def test_a_model_thinks_by_its_mode_and_the_first_switch_that_matches(
    claims: dict[str, Any], body: dict[str, Any], *, expected: bool | None
) -> None:
    assert expected is profiles.thinks({"thinking.switches": SWITCHES, **claims}, body)


@pytest.mark.parametrize("body", [None, [], "text", 7])
def test_a_body_that_is_no_object_switches_nothing(body: Any) -> None:
    assert profiles.thinks({"thinking.mode": "default-off", "thinking.switches": SWITCHES}, body) is False


CONDITIONS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"at": "/a", "equals": 1}, {"a": 1}, True),
    ({"at": "/a", "equals": 1}, {"a": True}, False),
    ({"at": "/a", "equals": True}, {"a": True}, True),
    ({"at": "/a", "equals": None}, {}, True),
    ({"at": "/a/b", "equals": "x"}, {"a": {"b": "x"}}, True),
    ({"at": "/a/0", "equals": "x"}, {"a": ["x"]}, True),
    ({"at": "/a/9", "equals": "x"}, {"a": ["x"]}, False),
    ({"at": "/a", "in": ["x", "y"]}, {"a": "y"}, True),
    ({"at": "/a", "in": ["x", "y"]}, {}, False),
    ({"at": "/a", "not-in": ["x"]}, {"a": "y"}, True),
    ({"at": "/a", "not-in": ["x"]}, {}, True),
    ({"at": "/a", "not-in": ["x", None]}, {}, False),
    ({"at": "/a", "present": True}, {"a": False}, True),
    ({"at": "/a", "present": True}, {"a": None}, False),
    ({"at": "/a", "present": False}, {}, True),
    ({"at": "/a"}, {"a": 0}, True),
]


@every(("condition", "body", "expected"), CONDITIONS)
def test_a_condition_compares_as_json_does(condition: dict[str, Any], body: dict[str, Any], *, expected: bool) -> None:
    assert expected is profiles.matches(condition, body)
