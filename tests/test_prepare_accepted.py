"""What egress prepares is accepted: for every profile, whatever the transcript, by the simulator and by the rules.

A few examples a profile in each test. The long run draws more:
`pytest tests/test_prepare_accepted.py --hypothesis-profile=long`
"""

import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import profiles, rules
from conformance.convert import egress
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Level, Status
from conformance.scenarios import tool_definitions
from conformance.simulator import Simulator
from conformance.strategies import transcripts
from conformance.strategies.transcript import ARGUMENTS, IDS, NAMES, RESULTS
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from tests.loops import every
from tests.sampling import examples, some

DRAWN = settings(max_examples=examples(4), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
SIDES = {rule.id: rule.on.side for rule in rules.load()}

Message = dict[str, Any]

IN_ORDER = transcripts(results=RESULTS, arguments=tuple(ARGUMENTS))


loaded = cache(profiles.load)
ON_CHAT = [name for name in profiles.names() if CHAT in loaded(name).wires]


def models(profile: Profile) -> list[str]:
    """Return a name for each set of claims that a profile makes: one of no entry, and one of each."""
    return ["example", *(model.name.replace("*", "x").replace("?", "x") for model in profile.models)]


@cache
def frame(provider: str, model: str) -> dict[str, Any]:
    """Return a body that the provider accepts with a plain question, without messages, with tools if supported."""
    profile = loaded(provider)
    claims = profile.at(model)
    offered = [tool_definitions()[name] for name in NAMES] if claims.get("tools.supported") is not False else []
    body = {"model": model} | ({"tools": offered} if offered else {})
    off = claims.get("thinking.off")
    for more in ({}, {"stream": True}, off if isinstance(off, dict) else {}):
        if not faults(profile, {**body, **more, "messages": [{"role": "user", "content": "Hello"}]}):
            return {**body, **more}
    pytest.fail(f"{provider} takes no question to {model}")


def faults(profile: Profile, body: dict[str, Any]) -> list[str]:
    """Return the objections of the simulator and the rules to a request: the refusal, and the broken rules."""
    answer = Simulator(profile).reply(body)
    refused = [] if answer.status == 200 else [f"{answer.status} {answer.body!r:.200}"]
    return refused + [
        f"{outcome.rule}: {outcome.reason or outcome.findings[0].message}"
        for outcome in check((Exchange(body, model=body["model"]),), profile)
        if outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST)
        if SIDES[outcome.rule] is Side.CLIENT
    ]


def requested(transcript: list[Message]) -> list[int]:
    """Return the lengths of a transcript at which a request was sent: before each answer, and now."""
    answers = [number for number, message in enumerate(transcript) if message["role"] == "assistant" and number]
    return sorted({*answers, len(transcript)})


@st.composite
def disturbed(draw: st.DrawFn) -> list[Message]:
    """Draw a transcript of a loop that was interrupted, restarted, or fed by others."""
    messages = draw(IN_ORDER)
    for disturb in draw(st.lists(st.sampled_from(DISTURBANCES), min_size=1, max_size=3)):
        position = draw(st.integers(0, len(messages) - 1))
        disturb(messages, position)
    return messages


def _put(message: Message) -> Any:
    return lambda messages, position: messages.insert(position, copy.deepcopy(message))


def _change(**keys: Any) -> Any:
    return lambda messages, position: messages[position].update(copy.deepcopy(keys))


def _as_parts(messages: list[Message], position: int) -> None:
    content = messages[position].get("content")
    if isinstance(content, str):
        messages[position]["content"] = [{"type": "text", "text": content}, {"type": "text", "text": ""}]


def _without_words(messages: list[Message], position: int) -> None:
    message = messages[position]
    if message["role"] == "assistant":
        message["content"] = None if len(messages) % 2 else ""


def _with_thinking_parts(messages: list[Message], position: int) -> None:
    message = messages[position]
    if message["role"] == "assistant" and isinstance(message["content"], str):
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Aha."}]}
        message["content"] = [thinking, {"type": "text", "text": message["content"]}]


DISTURBANCES = (
    _put({"role": "system", "content": "Be brief."}),
    _put({"role": "developer", "content": "Be brief."}),
    _put({"role": "user", "content": "Wait."}),
    _put({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}),
    _put({"role": "assistant", "content": "One moment."}),
    _put({"role": "assistant", "content": ""}),
    _put({"role": "tool", "tool_call_id": "call_0", "content": "late"}),
    _put({"role": "tool", "tool_call_id": "nobody", "content": ""}),
    _change(timestamp=1, finishReason="stop"),
    _change(reasoning_content="Hm.", extra_content={"google": {"thought": True}}),
    _as_parts,
    _without_words,
    _with_thinking_parts,
    lambda messages, position: messages.append(messages.pop(position)),
    lambda messages, position: messages.append(copy.deepcopy(messages[position])),
)


@every("provider", some(ON_CHAT, 3))
@DRAWN
@given(data=st.data())
def test_what_is_prepared_is_accepted_at_every_point_of_a_transcript(provider: str, data: st.DataObject) -> None:
    profile = loaded(provider)
    model = data.draw(st.sampled_from(models(profile)))
    transcript = data.draw(IN_ORDER)
    before = copy.deepcopy(transcript)
    for length in requested(transcript):
        prepared = egress.prepare(transcript[:length], profile.at(model))
        body = {**frame(provider, model), "messages": prepared.messages}
        assert bool(prepared.unfixed) is bool(faults(profile, body)), (faults(profile, body), prepared.notes)
        assert all(note.claim in UNFIXABLE for note in prepared.unfixed)
    assert before == transcript


UNFIXABLE = {"results.user-after"}
"""The claims that a valid transcript can break and that cannot be fixed without invented text."""


@every("provider", some(ON_CHAT, 3))
@DRAWN
@given(data=st.data())
def test_a_prepared_disturbed_transcript_is_accepted_or_has_notes(provider: str, data: st.DataObject) -> None:
    profile = loaded(provider)
    model = data.draw(st.sampled_from(models(profile)))
    transcript = data.draw(disturbed())
    before = copy.deepcopy(transcript)
    prepared = egress.prepare(transcript, profile.at(model))
    body = {**frame(provider, model), "messages": prepared.messages}
    assert bool(prepared.unfixed) is bool(faults(profile, body)), (faults(profile, body), prepared.notes)
    assert before == transcript


@every("provider", some(ON_CHAT, 3))
@DRAWN
@given(data=st.data())
def test_a_request_repeats_the_one_before_it(provider: str, data: st.DataObject) -> None:
    profile = loaded(provider)
    claims = profile.at(data.draw(st.sampled_from(models(profile))))
    transcript = data.draw(IN_ORDER)
    *earlier, last = [egress.prepare(transcript[:length], claims) for length in requested(transcript)]
    for prepared in earlier:
        assert prepared.messages == last.messages[: len(prepared.messages)]
        assert prepared.ids == last.ids[: len(prepared.ids)]


@every("provider", some(ON_CHAT, 3))
@DRAWN
@given(data=st.data())
def test_what_has_no_note_is_sent_unchanged(provider: str, data: st.DataObject) -> None:
    profile = loaded(provider)
    claims = profile.at(data.draw(st.sampled_from(models(profile))))
    transcript = data.draw(disturbed())
    prepared = egress.prepare(transcript, claims)
    assert len(prepared.messages) == len(prepared.origins)
    noted = {int(note.pointer.split("/")[1]) for note in prepared.notes if note.pointer}
    merged = any("merged" in note.reason for note in prepared.notes)
    sent = iter(prepared.messages)
    for number, message in enumerate(transcript):
        assert number in noted or merged or message in sent


@given(st.sampled_from(sorted(IDS)).flatmap(lambda ids: transcripts(ids=ids, results=RESULTS)))
def test_ids_of_nine_letters_are_unique_and_map_back_to_their_calls(
    transcript: list[Message],
) -> None:
    refused = {"status": 400}
    claims = {
        "ids.input-pattern": {"pattern": "[a-zA-Z0-9]{9}", "refusal": refused},
        "ids.duplicate-in-request": refused,
        "ids.duplicate-in-message": refused,
        "ids.empty-in-request": refused,
    }
    prepared = egress.prepare(transcript, claims)
    sent = [call["id"] for message in prepared.messages for call in message.get("tool_calls", ())]
    assert sent == [each.sent for each in prepared.ids]
    assert len(sent) == len(set(sent))
    assert all(len(each) == 9 and each.isalnum() for each in sent)
    assert sent == [message["tool_call_id"] for message in prepared.messages if message["role"] == "tool"]
    for each in prepared.ids:
        assert transcript[each.message]["tool_calls"][each.call]["id"] == each.own
