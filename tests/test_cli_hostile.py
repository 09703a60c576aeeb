"""`conformance check` on arbitrary input: always an exit code, never a traceback."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.checking import check, jsonl, write
from tests.sampling import examples

KEYS = ["messages", "role", "content", "tool_calls", "id", "type", "function", "name", "arguments", "tool_call_id"]
KEYS += ["choices", "delta", "message", "index", "finish_reason", "usage", "error", "request", "response", "status"]
KEYS += ["headers", "stream", "tools", "tool_choice", "reasoning_content", "reasoning_details", "object", "session"]
KEYS += ["interactions", "log", "entries", "exchanges", "url", "model", "date", "parts", "text", "prompt_tokens"]
WORDS = ["user", "assistant", "tool", "system", "function", "tool_calls", "stop", "chat.completion", "data: {}\n\n"]
SCALARS = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | st.sampled_from(WORDS) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)
SEARCH = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SEARCH
@given(
    data=st.binary(max_size=200), name=st.sampled_from(["a.json", "a.jsonl", "a.sse", "a.yaml", "a.har", "a.gz", "a"])
)
def test_any_bytes_give_an_exit_code_and_no_traceback(data: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    code, out, error = check(tmp_path / name)
    assert code in (0, 1, 2)
    assert "Traceback" not in out + error
    assert "this is a bug in conformance" not in error


@pytest.mark.slow
@SEARCH
@given(value=VALUES, messages=st.lists(VALUES, max_size=4), choices=st.lists(VALUES, max_size=3))
def test_no_json_makes_a_rule_raise(
    value: object, messages: list[object], choices: list[object], tmp_path: Path
) -> None:
    holders = [value, {"messages": messages, "tools": value}, {"choices": choices, "usage": value}]
    holders += [{"request": {"messages": messages}, "response": {"choices": choices}, "status": value}]
    holders += [{"request": value, "response": [{"choices": choices}, value if isinstance(value, dict) else {}]}]
    path = write(tmp_path / "a.jsonl", jsonl(*holders))
    for provider in ("", "deepseek"):
        code, _, error = check(path, "--provider", provider)
        assert code in (0, 1, 2)
        assert "this is a bug in conformance" not in error
