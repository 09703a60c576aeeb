"""The strategies: they draw what they document, every option is drawn, and no value is shared."""

import contextlib
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from conformance.convert.dialects import CANONICAL, validate
from conformance.errors import UnknownName
from conformance.strategies import transcripts
from conformance.strategies.transcript import ARGUMENTS, REASONING, RESULTS
from tests.loops import every
from tests.sampling import examples

QUICKLY = settings(phases=[Phase.generate], max_examples=2000)
SHRUNK = settings(phases=[Phase.generate, Phase.shrink], max_examples=100)
EVERYTHING = transcripts(results=RESULTS, arguments=tuple(ARGUMENTS), sendable=False)


def turns(transcript: list[dict[str, Any]]) -> list[list[str]]:
    """Return the ids of each message with calls."""
    return [[call["id"] for call in message["tool_calls"]] for message in transcript if "tool_calls" in message]


def windows(transcript: list[dict[str, Any]], size: int) -> list[list[bool]]:
    """Return for each window of consecutive assistant messages which of them have calls."""
    calling = ["tool_calls" in message for message in transcript if message["role"] == "assistant"]
    return [calling[start : start + size] for start in range(len(calling))]


@given(transcripts() | EVERYTHING)
def test_a_transcript_is_valid(transcript: list[dict[str, Any]]) -> None:
    assert transcript
    validate(transcript, CANONICAL)


@given(transcripts())
def test_a_transcript_can_be_sent_and_every_call_has_its_result(transcript: list[dict[str, Any]]) -> None:
    assert transcript[-1]["role"] in ("user", "tool")
    for place, message in enumerate(transcript, start=1):
        called = [call["id"] for call in message.get("tool_calls", ())]
        results = transcript[place : place + len(called)]
        assert [("tool", ident) for ident in called] == [(each["role"], each.get("tool_call_id")) for each in results]


@given(transcripts(sendable=False))
def test_a_transcript_may_end_with_the_answer(transcript: list[dict[str, Any]]) -> None:
    assert ("assistant", False) == (transcript[-1]["role"], "tool_calls" in transcript[-1])


IDS = {
    "unique": [["call_0", "call_1"], ["call_2"]],
    "kimi": [["functions.{}:0", "functions.{}:1"], ["functions.{}:2"]],
    "colliding across turns": [["call_0", "call_1"], ["call_0"]],
    "colliding within a turn": [["call_0", "call_0"], ["call_0"]],
    "empty": [["", ""], [""]],
}


@every(("ids", "expected"), IDS.items())
def test_ids_have_the_requested_form(ids: str, expected: list[list[str]]) -> None:
    drawn = transcripts(ids=ids, max_turns=2, max_calls=2)
    found = find(drawn, lambda each: [2, 1] == [len(turn) for turn in turns(each)], settings=QUICKLY)
    names = iter([call["function"]["name"] for message in found for call in message.get("tool_calls", ())])
    assert [[ident.format(next(names)) for ident in turn] for turn in expected] == turns(found)


@given(transcripts(ids="foreign"))
def test_ids_of_other_providers_never_repeat(transcript: list[dict[str, Any]]) -> None:
    ids = [ident for turn in turns(transcript) for ident in turn]
    assert len(ids) == len(set(ids))


SHAPES: dict[str, Any] = {
    "a plain turn between two with calls": lambda found: [True, False, True] in windows(found, 3),
    "parallel calls": lambda found: any(len(turn) == 3 for turn in turns(found)),
    "a result that is missing": lambda found: (
        sum(map(len, turns(found))) > len([message for message in found if message["role"] == "tool"])
    ),
    "arguments that are no JSON": lambda found: '{"city": "Hello"' in str(found),
    "a denied call": lambda found: any("denied" in str(message["content"]) for message in found),
    "no system message": lambda found: found[0]["role"] == "user",
    "a system message": lambda found: found[0]["role"] == "system",
    "reasoning of a plain turn": lambda found: any(
        message.get("reasoning_content") and "tool_calls" not in message for message in found
    ),
    "reasoning of two lines": lambda found: any("\n" in message.get("reasoning_content", "") for message in found),
    "reasoning that is empty": lambda found: any(message.get("reasoning_content") == "" for message in found),
    "structured reasoning": lambda found: any("reasoning_details" in message for message in found),
    "a signed call": lambda found: any("extra_content" in message.get("tool_calls", [{}])[0] for message in found),
}


def test_every_shape_is_drawn() -> None:
    missing = {*SHAPES}

    def is_last(transcript: list[dict[str, Any]]) -> bool:
        missing.difference_update([name for name in missing if SHAPES[name](transcript)])
        return not missing

    with contextlib.suppress(NoSuchExample):
        find(EVERYTHING, is_last, settings=QUICKLY)
    assert set() == missing


@pytest.mark.parametrize("kind", REASONING)
def test_only_the_requested_kind_is_drawn(kind: str) -> None:
    @settings(max_examples=examples(30))
    @given(transcripts(reasoning=kind, ids="unique", system=False, max_turns=1, max_calls=1))
    def holds(transcript: list[dict[str, Any]]) -> None:
        own = {"absent": set(), "details": {"reasoning_details"}, "signatures": set()}.get(kind, {"reasoning_content"})
        for message in transcript:
            if message["role"] == "assistant":
                assert own == message.keys() - {"role", "content", "tool_calls"}
                assert (kind == "signatures") is ("extra_content" in message["tool_calls"][0])
                assert 1 == len(message["tool_calls"])
        assert "user" == transcript[0]["role"]
        assert 1 == len([message for message in transcript if message["role"] == "user"])

    holds()


def test_the_simplest_transcript_is_one_message_of_a_user() -> None:
    assert [{"role": "user", "content": "Hello"}] == find(transcripts(), lambda _: True, settings=SHRUNK)


def test_a_transcript_shrinks_to_one_plain_call_if_a_call_matters() -> None:
    call = {"id": "call_0", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Hello"}'}}
    assert [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": "Hello"},
    ] == find(transcripts(), lambda found: bool(turns(found)), settings=SHRUNK)


@settings(max_examples=examples(20))
@given(st.data())
def test_the_caller_may_change_a_transcript(data: st.DataObject) -> None:
    strategy = transcripts()
    for message in data.draw(strategy):
        for call in message.get("tool_calls", ()):
            call.get("extra_content", {}).clear()
        for detail in message.get("reasoning_details", ()):
            detail.clear()
        message.clear()
    validate(data.draw(strategy), CANONICAL)


@pytest.mark.parametrize("option", ["ids", "reasoning", "results", "arguments"])
def test_an_unknown_option_is_refused(option: str) -> None:
    named: dict[str, Any] = {option: "emtpy"}
    with pytest.raises(UnknownName, match=f"unknown option of {option}"):
        transcripts(**named)


def test_without_hypothesis_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import conformance.strategies"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = "conformance.strategies needs hypothesis; install it with pip install 'wire-conformance[strategies]'"
    assert f"ModuleNotFoundError: {expected}" == ended.stderr.splitlines()[-1]
    assert 1 == ended.stderr.count("Traceback")
