"""A tool choice of chat completions is written as each wire documents it, and never with a name that is null."""

from typing import Any

from conformance.wires import as_sent
from tests.loops import every

AUTO: Any = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def responses(mode: str, *names: str) -> dict[str, Any]:
    return {"type": "allowed_tools", "mode": mode, "tools": [{"type": "function", "name": name} for name in names]}


def gemini(mode: str, *names: str) -> dict[str, Any]:
    return {"mode": mode} | ({"allowedFunctionNames": list(names)} if names else {})


ALL = ["a", "b", "c"]
NAMED: Any = {"type": "function", "function": {"name": "b"}}
CUSTOM: Any = {"type": "custom", "custom": {"name": "b"}}
TOOL, FUNCTION = {"type": "tool", "name": "b"}, {"type": "function", "name": "b"}
FREE, FORCED = {"type": "auto"}, {"type": "any"}
CASES: list[tuple[Any, Any, Any, Any, list[str]]] = [
    ("auto", FREE, "auto", gemini("AUTO"), ALL),
    ("required", FORCED, "required", gemini("ANY"), ALL),
    (allowed("auto", "a"), FREE, responses("auto", "a"), gemini("VALIDATED", "a"), ["a"]),
    (allowed("required", "a"), FORCED, responses("required", "a"), gemini("ANY", "a"), ["a"]),
    (allowed("auto", *"ac"), FREE, responses("auto", *"ac"), gemini("VALIDATED", *"ac"), ["a", "c"]),
    (allowed("required", *"bc"), FORCED, responses("required", *"bc"), gemini("ANY", *"bc"), ["b", "c"]),
    (AUTO, None, "auto", None, ALL),
    (NAMED, TOOL, FUNCTION, gemini("ANY", "b"), ALL),
    (CUSTOM, TOOL, FUNCTION, gemini("ANY", "b"), ALL),
    ({"type": "function"}, None, "auto", None, ALL),
]
"""A choice; as Messages, Responses and Gemini have it; and the tools that are left on Messages, which has no list."""


@every(("choice", "of_messages", "of_responses", "of_gemini", "left"), CASES)
def test_a_choice_is_written_as_each_wire_has_it(
    choice: Any, of_messages: Any, of_responses: Any, of_gemini: Any, left: list[str]
) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in "abc"]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": tools, "tool_choice": choice}
    sent = {wire: as_sent(body, wire).native for wire in ("messages", "responses", "gemini")}
    requests: dict[str, Any] = {wire: None if native is None else native.request for wire, native in sent.items()}
    assert of_messages == requests["messages"].get("tool_choice")
    assert left == [each["name"] for each in requests["messages"]["tools"]]
    assert of_responses == requests["responses"]["tool_choice"]
    assert of_gemini == requests["gemini"].get("toolConfig", {}).get("functionCallingConfig")
