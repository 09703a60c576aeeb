"""Reasoning where no provider asks for it: of turns that are over, and in fields that are rejected on plain turns."""

from typing import Any

import pytest

from conformance import profiles
from conformance.judge import check
from conformance.profiles import of
from conformance.results import Level
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires import by_name
from tests.loops import every
from tests.test_agreement import asked, musts

CITIES = ("Paris", "Rome")
RESENT = "reasoning/resent-on-tool-turns"
OMITTED = "reasoning.omitted-on-earlier-tool-turn"


def call(number: int) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": f'{{"city": "{CITIES[number]}"}}'}
    return {"id": f"call_{number}", "type": "function", "function": function}


def turn(number: int, *, thinks: bool = True) -> dict[str, Any]:
    details = [{"type": "reasoning.text", "text": f"Think {number}.", "signature": f"c2ln{number}"}]
    made = {"role": "assistant", "content": "", "tool_calls": [call(number)]}
    return {**made, "reasoning_details": details} if thinks else made


def session(wire: str, *, closed: bool, current: bool) -> Conversation:
    """Return a session of two turns with calls, whose reasoning is sent back or not."""
    asks = [{"role": "user", "content": f"The weather in {city}?"} for city in CITIES]
    results = [{"role": "tool", "tool_call_id": f"call_{number}", "content": "18"} for number in (0, 1)]
    answer = {"role": "assistant", "content": "18."}
    before = [asks[0], turn(0, thinks=closed), results[0], answer, asks[1]]
    steps = [
        ([asks[0]], turn(0)),
        ([asks[0], turn(0), results[0]], answer),
        (before, turn(1)),
        ([*before, turn(1, thinks=current), results[1]], answer),
    ]
    writing, path = by_name(wire).writing, by_name(wire).path({"model": "m"})
    exchanges = []
    for messages, reply in steps:
        request = writing.request({"model": "m", "messages": messages})
        ended = "tool_calls" if "tool_calls" in reply else "stop"
        body = {"id": "r", "model": "m", "choices": [{"index": 0, "message": reply, "finish_reason": ended}]}
        exchanges.append(Exchange.of_plain(request, writing.reply(body, request), 200, url=path, model="m"))
    return tuple(exchanges)


def levels(conversation: Conversation, claims: dict[str, Any] | None = None) -> set[Level]:
    """Return how severe it is that reasoning is not sent back."""
    outcomes = check(conversation, None if claims is None else of(claims), rules=[RESENT])
    return {found.level for outcome in outcomes for found in outcome.findings}


@pytest.mark.parametrize("wire", ["messages", "responses"])
def test_the_reasoning_of_a_closed_turn_may_be_left_out_as_the_vendor_says(wire: str) -> None:
    assert set() == levels(session(wire, closed=True, current=True))
    assert {Level.SHOULD} == levels(session(wire, closed=False, current=True))
    assert {Level.MUST} == levels(session(wire, closed=True, current=False))


@every(
    ("wire", "value", "expected"),
    [
        *[(wire, value, {Level.SHOULD}) for wire in ("messages", "responses") for value in ("accepted", "unknown")],
        *[(wire, {"status": 400}, {Level.MUST}) for wire in ("messages", "responses")],
    ],
)
def test_the_reasoning_of_a_closed_turn_is_a_must_where_the_profile_says_so(
    wire: str, value: Any, expected: set[Level]
) -> None:
    assert expected == levels(session(wire, closed=False, current=True), {OMITTED: value})


TEXT = {"reasoning_content": "A greeting.", "reasoning": "A greeting."}
HOSTS = [("mistral", "mistral-large-latest"), ("cerebras", "gpt-oss-120b"), ("groq", "llama-3.3-70b-versatile")]


@every(("name", "model"), HOSTS)
@every("field", ["reasoning_content", "reasoning", "reasoning_details"])
@every("is_current", [True, False])
def test_a_rejected_field_is_a_must_on_a_plain_turn_too(
    name: str,
    model: str,
    field: str,
    is_current: bool,  # noqa: FBT001
) -> None:
    value: Any = TEXT.get(field) or [{"type": "reasoning.text", "text": "A greeting."}]
    plain = {"role": "assistant", "content": "Hello.", field: value}
    messages = [{"role": "user", "content": "Hi"}, plain, {"role": "user", "content": "The weather?"}]
    if not is_current:
        messages += [{"role": "assistant", "content": "Mild."}, {"role": "user", "content": "Thanks."}]
    profile = profiles.load(name)
    is_refused = isinstance(profile.at(model).get(f"reasoning.input.{field}"), dict)
    sent = Exchange(request={"model": model, "messages": messages}, url="/v1/chat/completions")
    assert is_refused is bool(musts(profile, sent))
    assert is_refused is (asked(profile, sent).status >= 400)
    assert is_refused or name == "cerebras"
