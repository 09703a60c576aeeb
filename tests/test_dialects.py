"""The dialects: language-neutral vectors, schemas, and conversion from one to another."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from conformance.convert import dialects
from conformance.documents import read_json
from conformance.documents.pointer import REMOVE, edit
from conformance.errors import InvalidDocument, UnknownName
from conformance.resources import folder
from conformance.strategies import transcripts
from conformance.strategies.transcript import ARGUMENTS, RESULTS
from conformance.wire.losses import Loss
from tests.loops import every
from tests.losses import TRANSCRIPTS, comes_back

VECTORS = sorted((folder("fixtures") / "dialects").glob("*/*.json"))


def vector(path: Path) -> tuple[dialects.Dialect, dict[str, Any]]:
    value = read_json(path)
    assert isinstance(value, dict)
    return dialects.load(path.parent.name), value


def pointers(lost: tuple[Loss, ...]) -> list[str]:
    return [loss.pointer for loss in lost]


@every("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_both_sides_of_a_vector_are_valid(path: Path) -> None:
    dialect, value = vector(path)
    assert "" == fault(value["native"], dialect.name)
    assert "" == fault(value["canonical"], dialects.CANONICAL)


def fault(value: Any, name: str) -> str:
    try:
        dialects.validate(value, name)
    except InvalidDocument as error:
        return str(error)
    return ""


def way(path: Path, *, back: bool) -> tuple[str, str, dialects.Conversion]:
    """Return the start side and the end side of a vector, and the conversion between them."""
    dialect, value = vector(path)
    is_canonical = (value.get("start", "native") == "canonical") is not back
    names = ("canonical", "native") if is_canonical else ("native", "canonical")
    return *names, dialect.to_native if is_canonical else dialect.to_canonical


@every("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_one_side_becomes_the_other_and_the_losses_are_named(path: Path) -> None:
    _, value = vector(path)
    start, end, convert = way(path, back=False)
    before = copy.deepcopy(value[start])
    converted = convert(value[start])
    assert value[end] == converted.value
    assert [loss["pointer"] for loss in value["lost"][f"to_{end}"]] == pointers(converted.lost)
    assert before == value[start]


@every("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_other_side_comes_back_without_the_named_losses(path: Path) -> None:
    _, value = vector(path)
    end, start, convert = way(path, back=True)
    gone = {loss["pointer"]: REMOVE for loss in reversed(value["lost"][f"to_{end}"])}
    expected = value["back"] if "back" in value else edit(value[start], gone)
    converted = convert(value[end])
    assert expected == converted.value
    assert [loss["pointer"] for loss in value["lost"][f"to_{start}"]] == pointers(converted.lost)


def test_each_loss_says_what_becomes_of_the_value(golden: Callable[[str, str], None]) -> None:
    lines = []
    for path in VECTORS:
        for back in (False, True):
            start, end, convert = way(path, back=back)
            for loss in convert(vector(path)[1][start]).lost:
                lines.append(f"{path.parent.name}/{path.stem} to {end} {loss.pointer}: {loss.reason}\n")
    golden("losses.txt", "".join(lines))


@pytest.mark.parametrize("name", dialects.names())
def test_every_dialect_has_vectors_of_both_starts_and_of_losses_both_ways(name: str) -> None:
    values = [vector(path)[1] for path in VECTORS if path.parent.name == name]
    assert {"native", "canonical"} == {value.get("start", "native") for value in values}
    for end in ("to_canonical", "to_native"):
        assert any(value["lost"][end] for value in values)


@pytest.mark.parametrize("name", dialects.names())
def test_any_transcript_comes_back_without_the_named_losses(name: str) -> None:
    given(TRANSCRIPTS)(lambda canonical: comes_back(dialects.load(name), canonical))()


LOOPS = transcripts(results=RESULTS, arguments=tuple(ARGUMENTS), sendable=False)
"""Transcripts of agent loops, with everything that goes wrong in them."""


@pytest.mark.parametrize("name", dialects.names())
def test_transcripts_of_agent_loops_come_back_without_the_named_losses(name: str) -> None:
    given(LOOPS)(lambda canonical: comes_back(dialects.load(name), canonical))()


@pytest.mark.parametrize("name", ["gemini", "neutral", "responses"])
def test_one_unsigned_detail_comes_back_as_plain_reasoning_and_is_named(name: str) -> None:
    dialect, detail = dialects.load(name), {"type": "reasoning.text", "text": "Hm.", "index": 0}
    found = dialect.to_native([{"role": "assistant", "content": "x", "reasoning_details": [detail]}])
    assert [("/0/reasoning_details", "one unsigned block comes back as reasoning_content")] == [
        (loss.pointer, loss.reason) for loss in found.lost
    ]
    assert "Hm." == dialect.to_canonical(found.value).value[0]["reasoning_content"]


REFUSAL = {"type": "refusal", "refusal": "No."}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


@pytest.mark.parametrize("name", ["gemini", "messages"])
def test_what_a_system_prompt_does_not_hold_is_named(name: str) -> None:
    given = [{"role": "developer", "content": "Be brief.", "name": "n"}, {"role": "user", "content": "x"}]
    assert [
        ("/0/role", "the model has no developer role; comes back as system"),
        ("/0/name", "a system prompt has no name"),
    ] == [(loss.pointer, loss.reason) for loss in dialects.load(name).to_native(given).lost]


@pytest.mark.parametrize("name", ["gemini", "messages"])
def test_an_empty_text_of_a_system_prompt_is_named(name: str) -> None:
    parts = [{"type": "text", "text": text} for text in ("", "Be brief.")]
    lost = dialects.load(name).to_native([{"role": "system", "content": parts}, {"role": "user", "content": "x"}]).lost
    assert ("/0/content/0", "an empty text is left out") == (lost[0].pointer, lost[0].reason)


@every("name", ["gemini", "messages", "neutral", "responses"])
@every(
    ("message", "at", "reason"),
    [
        ({"content": [THINKING]}, "/0/content/0", "thinking is not part of the content there"),
        ({"content": [REFUSAL]}, "/0/content/0", "the content of an assistant is text there"),
        ({"content": [{"type": "text", "text": ""}]}, "/0/content/0", "an empty text is left out"),
        ({"content": "x", "name": "n"}, "/0/name", "an assistant message has no such field there"),
        ({"reasoning_content": "a", "reasoning": "a"}, "/0/reasoning", "the same reasoning is in another field"),
    ],
)
def test_what_no_wire_holds_of_an_assistant_is_named(name: str, message: dict[str, Any], at: str, reason: str) -> None:
    found = dialects.load(name).to_native([{"role": "assistant", **message}])
    assert (at, reason) == (found.lost[0].pointer, found.lost[0].reason)


NAMES: dict[str, Any] = {
    "gemini": lambda native: [
        part["functionResponse"]["name"]
        for content in native["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ],
    "neutral": lambda native: [
        message["ToolName"] for message in native["Messages"] if message["type"] == "ToolResultMessage"
    ],
}
"""The names of results, in the dialects that have them."""


@pytest.mark.parametrize("name", NAMES)
def test_a_result_has_the_name_of_the_call_at_its_position_whatever_the_ids(name: str) -> None:
    @given(transcripts(sendable=False))
    def holds(canonical: list[dict[str, Any]]) -> None:
        expected = [call["function"]["name"] for message in canonical for call in message.get("tool_calls", ())]
        native = dialects.load(name).to_native(canonical).value
        assert expected == NAMES[name](native)
        again = dialects.load(name).to_canonical(native)
        assert () == again.lost

    holds()


@pytest.mark.parametrize("name", dialects.names())
def test_every_dialect_has_a_title(name: str) -> None:
    assert dialects.load(name).title.endswith(".")


TOOLS: dict[str, tuple[dict[str, Any], str]] = {
    "messages": ({"messages": [], "tools": [{"name": "f", "input_schema": {"type": "object"}}]}, "/tools"),
    "gemini": ({"contents": [], "tools": [{"functionDeclarations": [{"name": "f"}]}]}, "/tools"),
    "neutral": ({"Messages": [], "Tools": [{"Name": "f"}]}, "/Tools"),
    "responses": ({"input": [], "tools": [{"type": "function", "name": "f"}]}, "/tools"),
}
"""A conversation with a tool, in each dialect that has tools, and the pointer to the tools."""


@every("name", TOOLS)
@every("target", ["canonical", *dialects.names()])
def test_tools_are_named_as_lost_for_every_target(name: str, target: str) -> None:
    native, place = TOOLS[name]
    assert place in pointers(dialects.convert(native, name, target).lost)


@pytest.mark.parametrize("name", [name for name in dialects.names() if name not in TOOLS])
def test_a_dialect_of_only_messages_refuses_tools(name: str) -> None:
    with pytest.raises(InvalidDocument):
        dialects.validate({"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}, name)


def test_an_unknown_dialect_is_reported_with_the_nearest_names() -> None:
    with pytest.raises(UnknownName, match="did you mean agent-loop"):
        dialects.load("agent-lop")


def test_a_value_that_is_not_of_the_dialect_is_refused_with_its_pointer() -> None:
    with pytest.raises(InvalidDocument, match=r"chat.json: at /0/content: expected"):
        dialects.convert([{"role": "assistant", "content": None}], "agent-loop", "canonical", "chat.json")
