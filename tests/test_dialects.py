"""The dialects: language-neutral vectors, schemas, and conversations from one to another."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from conformance import dialects
from conformance.documents import read_json
from conformance.errors import InvalidDocument, UnknownName
from conformance.resources import folder
from conformance.strategies import transcripts
from conformance.strategies.transcript import ARGUMENTS, RESULTS
from conformance.wire.pointer import REMOVE, edit
from tests.losses import TRANSCRIPTS, comes_back

VECTORS = sorted((folder("fixtures") / "dialects").glob("*/*.json"))


def vector(path: Path) -> tuple[dialects.Dialect, dict[str, Any]]:
    value = read_json(path)
    assert isinstance(value, dict)
    return dialects.load(path.parent.name), value


def pointers(lost: tuple[dialects.Loss, ...]) -> list[str]:
    return [loss.pointer for loss in lost]


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_vector_is_what_both_schemas_demand(path: Path) -> None:
    dialect, value = vector(path)
    assert "" == fault(value["native"], dialect.name)
    assert "" == fault(value["canonical"], dialects.CANONICAL)


def fault(value: Any, name: str) -> str:
    try:
        dialects.demand(value, name)
    except InvalidDocument as error:
        return str(error)
    return ""


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_native_conversation_becomes_the_canonical_one_and_the_losses_are_named(path: Path) -> None:
    dialect, value = vector(path)
    before = copy.deepcopy(value["native"])
    converted = dialect.to_canonical(value["native"])
    assert value["canonical"] == converted.value
    assert [loss["pointer"] for loss in value["lost"]["to_canonical"]] == pointers(converted.lost)
    assert before == value["native"]


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_canonical_conversation_becomes_the_native_one_less_what_was_lost(path: Path) -> None:
    dialect, value = vector(path)
    gone = {loss["pointer"]: REMOVE for loss in reversed(value["lost"]["to_canonical"])}
    expected = value["back"] if "back" in value else edit(value["native"], gone)
    converted = dialect.to_native(value["canonical"])
    assert expected == converted.value
    assert [loss["pointer"] for loss in value["lost"]["to_native"]] == pointers(converted.lost)


@pytest.mark.parametrize("name", dialects.names())
def test_any_transcript_comes_back_less_what_is_named(name: str) -> None:
    given(TRANSCRIPTS)(lambda canonical: comes_back(dialects.load(name), canonical))()


LOOPS = transcripts(results=RESULTS, arguments=tuple(ARGUMENTS), sendable=False)
"""Transcripts as agent loops keep them, with all that goes wrong in them."""


@pytest.mark.parametrize("name", dialects.names())
def test_what_an_agent_loop_keeps_comes_back_less_what_is_named(name: str) -> None:
    given(LOOPS)(lambda canonical: comes_back(dialects.load(name), canonical))()


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
"""The names that results bear, in the dialects where they do."""


@pytest.mark.parametrize("name", NAMES)
def test_a_result_bears_the_name_of_the_call_at_its_position_whatever_the_ids(name: str) -> None:
    @given(transcripts(sendable=False))
    def holds(canonical: list[dict[str, Any]]) -> None:
        expected = [call["function"]["name"] for message in canonical for call in message.get("tool_calls", ())]
        native = dialects.load(name).to_native(canonical).value
        assert expected == NAMES[name](native)
        again = dialects.load(name).to_canonical(native)
        assert () == again.lost

    holds()


@pytest.mark.parametrize("name", dialects.names())
def test_every_dialect_has_vectors_and_a_title(name: str) -> None:
    assert dialects.load(name).title.endswith(".")
    assert [path for path in VECTORS if path.parent.name == name]


def test_an_unknown_dialect_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean agent-loop"):
        dialects.load("agent-lop")


def test_what_is_not_the_dialect_is_refused_with_its_pointer() -> None:
    with pytest.raises(InvalidDocument, match=r"chat.json: at /0/content: expected"):
        dialects.convert([{"role": "assistant", "content": None}], "agent-loop", "canonical", "chat.json")
