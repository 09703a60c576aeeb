"""The schemas themselves, and what their registry says of single faults."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import schemas
from conformance.documents import read_json
from conformance.documents.pointer import REMOVE, edit
from conformance.errors import UnknownName
from conformance.resources import folder
from conformance.schemas import (
    BASE,
    SchemaError,
    Validator,
    _files,
    argument_errors,
    check_schema,
    slow_validator,
    validator,
)
from tests.loops import every
from tests.sampling import some

ROOT = folder("schemas")
NAMES = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.json"))
CANONICAL = [name for name in NAMES if name.startswith("canonical/")]
STANDALONE = [
    "canonical/chunk", "canonical/content-part", "canonical/error", "canonical/message", "canonical/reasoning-detail",
    "canonical/request", "canonical/response", "canonical/tool-call", "canonical/tool-definition",
    "canonical/transcript",
]  # fmt: skip

FUNCTION = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
CALL = {"id": "call_1", "type": "function", "function": FUNCTION}
REQUEST: dict[str, Any] = {
    "model": "example-1",
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather in Paris?"}]},
        {"role": "assistant", "content": "", "reasoning_content": "The tool knows.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "18"},
    ],
}
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
TOP = {"id": "chatcmpl-1", "created": 1767225600, "model": "example-1"}
REPLY = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESPONSE: dict[str, Any] = {
    **TOP,
    "object": "chat.completion",
    "choices": [{"index": 0, "message": REPLY, "finish_reason": "tool_calls"}],
    "usage": USAGE,
}
DELTA = {"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}
CHUNK: dict[str, Any] = {**TOP, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": DELTA}]}
ERROR: dict[str, Any] = {"error": {"message": "No such model.", "type": None, "param": "model", "code": "not_found"}}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
VALID = {"request": REQUEST, "response": RESPONSE, "chunk": CHUNK, "error": ERROR}


def errors(name: str, changes: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    value = edit(VALID[name], changes)
    found = validator(f"canonical/{name}").errors(value)
    assert found == slow_validator(f"canonical/{name}").errors(value)
    assert bool(found) != validator(f"canonical/{name}").is_valid(value)
    return [("/".join(map(str, error.place)), error.keyword, error.message) for error in found]


@every("name", NAMES)
def test_a_schema_is_named_by_its_place(name: str) -> None:
    schema = read_json(ROOT / f"{name}.json")
    assert isinstance(schema, dict)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"{BASE}{name}.json"
    assert schema["title"]
    assert schema["description"]


@every("name", some(NAMES, 6))
def test_a_schema_obeys_the_metaschema(name: str) -> None:
    assert () == check_schema(read_json(ROOT / f"{name}.json"))


@every("name", NAMES)
def test_a_schema_compiles_with_all_that_it_refers_to(name: str) -> None:
    assert slow_validator(name).is_valid({}) is validator(name).is_valid({})


@every("name", STANDALONE)
def test_a_canonical_schema_passes_its_own_examples(name: str) -> None:
    schema = read_json(ROOT / f"{name}.json")
    assert isinstance(schema, dict)
    assert schema["examples"]
    for example in schema["examples"]:
        assert validator(name).errors(example) == ()
        assert slow_validator(name).is_valid(example)


@pytest.mark.parametrize("name", VALID)
def test_what_the_faults_below_are_edits_of_is_valid(name: str) -> None:
    assert errors(name, {}) == []


@every(
    ("name", "changes", "expected"),
    [
        ("request", {"/messages": []}, ("messages", "minItems", "expected at least 1 item, got []")),
        ("request", {"/messages": REMOVE}, ("", "required", 'expected the key "messages", got only "model", "tools"')),
        ("request", {"/stream": "yes"}, ("stream", "type", 'expected true or false or null, got "yes"')),
        ("request", {"/tools": []}, ("tools", "minItems", "expected at least 1 item, got []")),
        ("request", {"/tools/0/type": REMOVE}, ("tools/0", "required", 'expected the key "type", got only "function"')),
        (
            "request",
            {"/tools/0/function/name": 7},
            ("tools/0/function/name", "type", "expected a string, got 7"),
        ),
        ("request", {"/messages/0": None}, ("messages/0", "type", "expected an object, got null")),
        ("request", {"/messages/0": {}}, ("messages/0", "required", 'expected the key "role", got no keys')),
        (
            "request",
            {"/messages/0/role": "human"},
            (
                "messages/0/role",
                "enum",
                'expected "system", "user", "assistant", "tool" or "developer", got "human"',
            ),
        ),
        ("request", {"/messages/1/content": 3}, ("messages/1/content", "type", "expected a string or an array, got 3")),
        (
            "request",
            {"/messages/1/content/0/type": "video"},
            (
                "messages/1/content/0/type",
                "enum",
                'expected "text", "image_url", "input_audio" or "file", got "video"',
            ),
        ),
        (
            "request",
            {"/messages/3/content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
            ("messages/3/content/0/type", "enum", 'expected "text", got "image_url"'),
        ),
        (
            "request",
            {"/messages/3/content": REMOVE},
            ("messages/3", "required", 'expected the key "content", got only "role", "tool_call_id"'),
        ),
        (
            "request",
            {"/messages/3/is_error": True, "/messages/3/toolName": "get_weather"},
            ("messages/3", "additionalProperties", 'expected no further keys, got "is_error", "toolName"'),
        ),
        (
            "request",
            {"/messages/2/tool_calls": []},
            ("messages/2/tool_calls", "minItems", "expected at least 1 item, got []"),
        ),
        (
            "request",
            {"/messages/2/tool_calls/0/index": 0},
            ("messages/2/tool_calls/0", "additionalProperties", 'expected no further keys, got "index"'),
        ),
        (
            "request",
            {"/messages/2/tool_calls/0": {"id": "call_1", "type": "custom", "custom": {"name": "x", "input": "y"}}},
            ("messages/2/tool_calls/0/type", "const", 'expected "function", got "custom"'),
        ),
        (
            "request",
            {"/messages/2/tool_calls/0/function/name": ""},
            ("messages/2/tool_calls/0/function/name", "minLength", 'expected at least 1 character, got ""'),
        ),
        (
            "request",
            {"/messages/2/tool_calls/0/function/arguments": {"city": "Paris"}},
            (
                "messages/2/tool_calls/0/function/arguments",
                "type",
                'expected a string, got {"city":"Paris"}',
            ),
        ),
        (
            "request",
            {"/messages/2/reasoning_details": [{"type": "reasoning.encrypted", "index": 0}]},
            (
                "messages/2/reasoning_details/0",
                "required",
                'expected the key "data", got only "type", "index"',
            ),
        ),
        (
            "response",
            {"/choices/0/finish_reason": None},
            ("choices/0/finish_reason", "type", "expected a string, got null"),
        ),
        (
            "response",
            {"/choices/0/message/role": "bot"},
            ("choices/0/message/role", "const", 'expected "assistant", got "bot"'),
        ),
        (
            "response",
            {"/usage/total_tokens": "11"},
            ("usage/total_tokens", "type", 'expected an integer, got "11"'),
        ),
        (
            "response",
            {"/usage/completion_tokens": -1},
            ("usage/completion_tokens", "minimum", "expected at least 0, got -1"),
        ),
        (
            "chunk",
            {"/choices/0/delta": REMOVE},
            ("choices/0", "required", 'expected the key "delta", got only "index"'),
        ),
        (
            "chunk",
            {"/choices/0/delta/content": 7},
            ("choices/0/delta/content", "type", "expected a string, an array or null, got 7"),
        ),
        ("error", {"/error": "No such model."}, ("error", "type", 'expected an object, got "No such model."')),
        ("error", {"/error/code": 404}, ("error/code", "type", "expected a string or null, got 404")),
    ],
)
def test_one_fault_is_one_error_at_its_own_place(
    name: str, changes: Mapping[str, Any], expected: tuple[str, str, str]
) -> None:
    assert [expected] == errors(name, changes)


@every(
    ("name", "changes"),
    [
        ("request", {"/a_parameter_of_one_provider": {}}),
        ("request", {"/messages/0/role": "developer"}),
        ("request", {"/messages/2/content": None}),
        ("request", {"/messages/2/content": REMOVE}),
        ("request", {"/messages/2/content": [{"type": "refusal", "refusal": "No."}]}),
        ("request", {"/messages/2/content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Mild."}]}]}),
        ("request", {"/messages/2/reasoning_details": [{"type": "reasoning.of-tomorrow", "anything": 1}]}),
        ("request", {"/messages/2/tool_calls/0/extra_content": {"google": {"thought_signature": "c2ln"}}}),
        ("request", {"/messages/2/tool_calls/0/function/arguments": '{"city": "Par'}),
        ("request", {"/messages/3/content": [{"type": "text", "text": "18"}]}),
        ("request", {"/tools/0": {"type": "openrouter:web_search"}}),
        ("response", {"/choices/0/message/a_key_of_one_provider": 1}),
        ("response", {"/choices/0/message/tool_calls/0/type": REMOVE}),
        ("response", {"/choices/0/message/tool_calls/0/index": 0}),
        ("response", {"/choices/0/message/content": [{"type": "reasoning", "summary": []}]}),
        ("response", {"/usage": REMOVE}),
        ("response", {"/choices": REMOVE, "/error": {"message": "The upstream is gone."}}),
        ("chunk", {"/choices": [], "/usage": USAGE}),
        ("chunk", {"/choices/0/finish_reason": None, "/usage": None}),
        ("chunk", {"/choices/0/delta/tool_calls/0": {"index": 0, "id": None, "function": {"arguments": "{"}}}),
        ("error", {"/error": {"message": "Later.", "metadata": {}}, "/user_id": "u"}),
    ],
)
def test_what_the_canonical_wire_allows_has_no_error(name: str, changes: Mapping[str, Any]) -> None:
    assert errors(name, changes) == []


def test_an_error_has_the_unknown_keys() -> None:
    [error] = validator("canonical/message").errors({"role": "user", "content": "Hi", "timestamp": 1, "durationMs": 2})
    assert error == SchemaError(
        (),
        "additionalProperties",
        'expected no further keys, got "timestamp", "durationMs"',
        extra=("timestamp", "durationMs"),
        got="object",
    )


@pytest.mark.parametrize("engine", [validator, slow_validator])
@pytest.mark.parametrize(
    ("message", "missing", "got"),
    [
        ({"role": "tool", "content": "18"}, "tool_call_id", "object"),
        ({"role": "user", "content": None}, "", "null"),
        ({"role": "user", "content": True}, "", "boolean"),
        ({"role": "assistant", "tool_calls": []}, "", "array"),
    ],
)
def test_an_error_has_the_missing_key_and_the_type_of_the_value(
    engine: Callable[[str], Validator], message: Any, missing: str, got: str
) -> None:
    [error] = engine("canonical/message").errors(message)
    assert (missing, got) == (error.missing, error.got)


def test_errors_are_ordered_by_place() -> None:
    message = {"role": "user", "content": 1}
    places = [error.place for error in validator("canonical/transcript").errors([message] * 11)]
    assert places == [(number, "content") for number in range(11)]


def test_a_long_value_is_cut_to_sixty_characters() -> None:
    [error] = validator("canonical/error").errors({"error": "x" * 1_000_000})
    assert error.message == f'expected an object, got "{"x" * 58}…'


def test_a_name_may_lead_into_a_file() -> None:
    judge = validator("canonical/message#/$defs/tool")
    assert judge.is_valid({"role": "tool", "tool_call_id": "call_1", "content": "18"})
    assert [error.keyword for error in judge.errors({"role": "tool", "content": "18"})] == ["required"]


def test_an_unknown_schema_is_named_with_its_nearest() -> None:
    with pytest.raises(UnknownName, match="canonical/request"):
        validator("canonical/requests")


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("message", "keywords"),
    [
        ({"role": "user", "content": "\ud800"}, []),
        ({"role": "user", "content": {"\ud800": 1}}, ["type"]),
        ({"role": nested(300), "content": ""}, ["enum"]),
    ],
    ids=["a lone surrogate", "a lone surrogate in a key", "deep nesting"],
)
def test_values_that_the_quick_engine_refuses_are_judged_all_the_same(message: Any, keywords: list[str]) -> None:
    judge = validator("canonical/message")
    assert judge.is_valid(message) == (not keywords)
    assert keywords == [error.keyword for error in judge.errors(message)]


@pytest.mark.parametrize(
    ("schema", "place"), [({"type": "strange"}, ("type",)), ({"properties": {"a": 1}}, ("properties", "a")), (3, ())]
)
def test_what_is_no_schema_is_told_once(schema: Any, place: tuple[str, ...]) -> None:
    [error] = check_schema(schema)
    assert place == error.place


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    return done.stdout.strip()


def test_jsonschema_is_not_imported_where_nothing_is_wrong() -> None:
    script = f"""
import sys
from conformance.schemas import argument_errors, validator
assert validator("canonical/request").is_valid({REQUEST!r})
assert validator("canonical/request").errors({{"messages": []}})
assert argument_errors({PARAMETERS!r}, {{"city": "Paris"}}) == ()
print(sorted({{"jsonschema", "referencing", "yaml", "httpx"}} & set(sys.modules)))
"""
    assert run(script) == "[]"


def test_without_jsonschema_rs_the_same_is_found() -> None:
    script = f"""
import sys
sys.modules["jsonschema_rs"] = None
from conformance.schemas import argument_errors, validator
judge = validator("canonical/request")
print(judge.is_valid({REQUEST!r}), judge.errors({{"messages": [{{"role": "user"}}]}}))
print(argument_errors({PARAMETERS!r}, {{"city": "Paris"}}), argument_errors({{"pattern": "^b"}}, "a"))
"""
    value = {"messages": [{"role": "user"}]}
    words = argument_errors({"pattern": "^b"}, "a")
    assert run(script) == f"True {validator('canonical/request').errors(value)}\n() {words}"


def test_an_interrupt_while_a_schema_is_read_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_uri: str) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(_files, "fetch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        schemas.validator.__wrapped__("canonical/request")
