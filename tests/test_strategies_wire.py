"""The strategies for the wire: requests that are accepted, streams that add up, faults that are found."""

import sys
import textwrap
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings

from conformance import profiles, strategies
from conformance.convert import ingress
from conformance.errors import UnknownName
from conformance.judge import check
from conformance.results import Level, Status
from conformance.schemas import validator
from conformance.strategies import FaultyConversation, faults, replies, requests, streams
from conformance.strategies.stream import QUIRKS
from conformance.wire.assemble import assemble
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT
from conformance.wire.sse import Decoder, read
from tests import sampling
from tests.loops import every
from tests.sampling import some

ON_CHAT = [name for name in profiles.names() if CHAT in profiles.load(name).wires]
QUICKLY = settings(phases=[Phase.generate], max_examples=2000)
SHRUNK = settings(phases=[Phase.generate, Phase.shrink], max_examples=100)
FEW = settings(max_examples=sampling.examples(10))


def musts(conversation: Conversation, profile: profiles.Profile | None = None) -> set[str]:
    return {
        outcome.rule
        for outcome in check(conversation, profile)
        for finding in outcome.findings
        if finding.level is Level.MUST
    }


@given(requests())
def test_a_request_is_valid_and_breaks_no_rule(body: dict[str, Any]) -> None:
    assert () == validator("canonical/request").errors(body)
    assert set() == musts((Exchange(request=body, model=body["model"]),))


@every("provider", sampling.some(ON_CHAT, 4))
def test_a_request_to_a_provider_is_accepted(provider: str) -> None:
    profile = profiles.load(provider)

    @settings(max_examples=sampling.examples(10))
    @given(requests(provider=provider))
    def holds(body: dict[str, Any]) -> None:
        assert profile.model == body["model"]
        assert set() == musts((Exchange(request=body, model=body["model"]),), profile)

    holds()


MODELS = [
    ("alibaba_qwen", "qwen3-8b"),
    ("deepseek", "deepseek-reasoner"),
    ("mistral", "mistral-small"),
    ("moonshot", "kimi-k2.6"),
    ("openai", "gpt-5-chat"),
    ("openai", "gpt-5.5"),
    ("openai", "o1-mini"),
]


@every(("provider", "model"), sampling.some(MODELS, 4))
def test_a_request_to_a_model_is_accepted(provider: str, model: str) -> None:
    profile = profiles.load(provider)

    @FEW
    @given(requests(provider=provider, model=model))
    def holds(body: dict[str, Any]) -> None:
        assert set() == musts((Exchange(request=body, model=model),), profile)

    holds()


REQUESTS: dict[str, Any] = {
    "no tools": lambda body: "tools" not in body,
    "tools": lambda body: "tools" in body and len(body["messages"]) == 1,
    "a tool that is named": lambda body: isinstance(body.get("tool_choice"), dict),
    "a tool that is required": lambda body: body.get("tool_choice") == "required",
    "a stream with usage": lambda body: "stream_options" in body,
    "reasoning that goes back": lambda body: any(message.get("reasoning_content") for message in body["messages"]),
}


@every("name", sampling.some(REQUESTS, mark=pytest.mark.exhaustive))
def test_every_shape_of_a_request_is_drawn(name: str) -> None:
    assert REQUESTS[name](find(requests(), REQUESTS[name], settings=QUICKLY))


@FEW
@given(requests(provider="deepseek", stream=True))
def test_the_profile_decides_on_reasoning_and_the_option_on_streaming(body: dict[str, Any]) -> None:
    assert body["stream"] is True
    for message in body["messages"]:
        assert ("tool_calls" in message) is ("reasoning_content" in message)


def test_the_simplest_request_is_one_message() -> None:
    simplest = {"model": "example-model", "messages": [{"role": "user", "content": "Hello"}]}
    assert simplest == find(requests(), lambda _: True, settings=SHRUNK)


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean deepseek"):
        requests(provider="deepsek")


def streamed(data: bytes) -> Conversation:
    return (Exchange(response=data.decode(), status=200, streamed=True),)


@given(streams())
def test_a_stream_adds_up_to_the_message_that_is_drawn_with_it(drawn: tuple[bytes, dict[str, Any]]) -> None:
    data, message = drawn
    stream = assemble(read(data))
    assert [message] == [ingress.read(choice.message) for choice in stream.choices]
    assert ["tool_calls" if "tool_calls" in message else "stop"] == [each.finish_reason for each in stream.choices]


@given(streams(quirks=()))
def test_a_stream_without_quirks_breaks_no_rule(drawn: tuple[bytes, dict[str, Any]]) -> None:
    assert {Status.PASSED, Status.NOT_APPLICABLE} == {outcome.status for outcome in check(streamed(drawn[0]))}


BREAKING = {
    "index missing": "stream/index-present",
    "index always 0": "stream/index-distinct",
    "id repeated": "stream/id-once",
    "id empty": "stream/id-once",
    "arguments null at first": "stream/first-fragment-has-arguments",
    "arguments missing at first": "stream/first-fragment-has-arguments",
    "role missing": "stream/role-first",
    "empty first chunk": "stream/empty-choices-only-with-usage",
    "chunks without id": "shape/chunk",
    "no end mark": "stream/ends-with-done",
    "type missing": "tool-calls/type-present",
}
TOLERATED = {"id null", "role on every chunk"}


@every("quirk", some(QUIRKS, 5))
def test_a_quirk_breaks_its_rule_or_none(quirk: str) -> None:
    @settings(max_examples=sampling.examples(100))
    @given(streams(quirks=quirk))
    def broken(drawn: tuple[bytes, dict[str, Any]]) -> None:
        seen.update(outcome.rule for outcome in check(streamed(drawn[0])) if outcome.status is Status.FAILED)

    seen: set[str] = set()
    broken()
    assert (set() if quirk in TOLERATED else {BREAKING[quirk]}) == seen


def deltas(drawn: tuple[bytes, Any]) -> list[dict[str, Any]]:
    chunks = assemble(read(drawn[0])).chunks
    return [choice["delta"] for chunk in chunks if chunk is not None for choice in chunk["choices"]]


def fragments(drawn: tuple[bytes, Any]) -> list[list[Any]]:
    return [[call.get("index") for call in delta["tool_calls"]] for delta in deltas(drawn) if "tool_calls" in delta]


STREAMS: dict[str, Any] = {
    "text in several pieces": lambda drawn: len([delta for delta in deltas(drawn) if delta.get("content")]) > 2,
    "lines that end with a return": lambda drawn: b"\n" not in drawn[0],
    "lines that end with both": lambda drawn: b"\r\n" in drawn[0],
    "a comment": lambda drawn: b": keep-alive" in drawn[0],
    "an event of several lines": lambda drawn: b"data: {\n" in drawn[0],
    "characters of several bytes": lambda drawn: not drawn[0].isascii(),
    "characters that are escaped": lambda drawn: b"\\u96ea" in drawn[0],
    "usage": lambda drawn: assemble(read(drawn[0])).usage is not None,
    "no usage": lambda drawn: assemble(read(drawn[0])).usage is None,
    "two calls that take turns": lambda drawn: [[0], [1], [0], [1]] == fragments(drawn)[:4],
    "two calls, one after the other": lambda drawn: [[0], [0], [1], [1]] == fragments(drawn)[:4],
    "two whole calls in one chunk": lambda drawn: [[0, 1]] == fragments(drawn),
}


@every("name", sampling.some(STREAMS, mark=pytest.mark.exhaustive))
def test_every_shape_of_a_stream_is_drawn(name: str) -> None:
    assert STREAMS[name](find(streams(quirks=()), STREAMS[name], settings=QUICKLY))


@pytest.mark.slow
def test_the_simplest_stream_has_each_call_in_one_fragment() -> None:
    found = find(streams(), lambda drawn: len(drawn[1].get("tool_calls", ())) == 2, settings=SHRUNK)
    assert [[0], [1]] == fragments(found)
    assert {"data:", ""} == {line[:5].decode() for line in found[0].split(b"\n")}


@given(replies(max_calls=0))
def test_replies_without_calls_have_text(message: dict[str, Any]) -> None:
    assert message["content"]
    assert "tool_calls" not in message


@FEW
@given(faults())
def test_a_fault_is_found_by_its_rule_and_no_other(fault: FaultyConversation) -> None:
    found = check(fault.conversation, profiles.of(fault.claims) if fault.claims else None)
    assert [fault.rule] == [outcome.rule for outcome in found if outcome.status is Status.FAILED]
    assert set() == {outcome.rule for outcome in check(fault.sound) if outcome.status is Status.FAILED}


@FEW
@given(faults(["transcript/*", "stream/complete"]))
def test_only_the_requested_faults_are_drawn(fault: FaultyConversation) -> None:
    assert fault.rule.startswith("transcript/") or fault.rule == "stream/complete"


def parse(data: bytes) -> dict[str, Any]:
    decoder = Decoder()
    decoder.feed(data[:7])
    decoder.feed(data[7:])
    return ingress.read(assemble(decoder.close()).choices[0].message)


def is_sound(messages: list[dict[str, Any]]) -> bool:
    return not musts((Exchange(request={"model": "example-model", "messages": messages}),))


SOUND: dict[str, Any] = {
    "load": lambda stored: stored,
    "save": lambda messages: messages,
    "parse": parse,
    "is_sound": is_sound,
}
BROKEN: dict[str, Any] = {
    "load": lambda stored: stored[:1],
    "parse": lambda data: parse(data) | {"content": ""},
    "is_sound": lambda _messages: True,
}


def examples(monkeypatch: pytest.MonkeyPatch, client: dict[str, Any]) -> dict[str, Any]:
    """Return the tests in the documentation of the package, with a client instead of another project's."""
    monkeypatch.setitem(sys.modules, "my_client", SimpleNamespace(**client))
    shown = [line for line in (strategies.__doc__ or "").splitlines() if line.startswith("    ") or not line]
    found: dict[str, Any] = {}
    exec(textwrap.dedent("\n".join(shown)), found)  # noqa: S102 — the text is the package's own documentation
    return {name: value for name, value in found.items() if name.startswith("test_")}


def test_the_documented_tests_pass_for_a_correct_client(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = examples(monkeypatch, SOUND)
    assert 3 == len(shown)
    for test in shown.values():
        test()


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("load", "test_a_transcript_comes_back_from_the_store_as_it_was"),
        ("parse", "test_a_stream_is_read_to_the_message_that_was_sent"),
        ("is_sound", "test_a_faulty_history_is_never_sent"),
    ],
)
def test_the_documented_tests_fail_for_a_broken_client(fault: str, test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = examples(monkeypatch, {**SOUND, fault: BROKEN[fault]})
    with pytest.raises(AssertionError):
        settings(phases=[Phase.generate])(shown[test])()
