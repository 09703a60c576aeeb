"""Two causes of known bugs, on every wire: calls that only their ids were compared by, and replies sent back in two."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from typing import Any

from conformance import profiles, scenarios
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Evidence, Level, Status
from conformance.simulator.sessions import serving_sessions
from conformance.suite.options import on_wire
from conformance.suite.turns import Subject, converse
from conformance.transport.client import Client, Endpoint
from conformance.wire.exchange import Exchange
from tests.loops import every

UNCHANGED = "transcript/reply-resent-unchanged"
WIRES = (("chat", "deepseek"), ("messages", "anthropic"), ("responses", "openai"), ("gemini", "gemini"))
CALLED = {"chat": "function", "messages": "input", "responses": "arguments", "gemini": "args"}
"""The member of a call that holds its arguments, or the function that does."""


@cache
def session(
    wire: str, provider: str, variant: str, name: str = "parallel-tool-calls"
) -> tuple[Profile, tuple[Exchange, ...]]:
    """Return a session with two parallel calls in its own wire's bodies, of a client that does everything right."""
    profile, scenario = on_wire(profiles.load_profile(provider), wire), scenarios.load(name)
    with serving_sessions() as server:
        opened = server.open(scenario, profile, variant, profile.model)
        with Client(Endpoint(opened.base_url, "none", wire=wire)) as client:
            subject = Subject(profile, profile.model, client.send, Evidence.SIMULATED)
            exchanges = converse(scenario, variant, subject).exchanges
    return profile, tuple([each.as_received for each in exchanges])


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(each)


def every_call(wire: str, body: Any) -> list[dict[str, Any]]:
    """Return the calls of a request."""
    holders: dict[str, Callable[[dict[str, Any]], bool]] = {
        "chat": lambda value: value.get("type") == "function" and "id" in value,
        "messages": lambda value: value.get("type") == "tool_use",
        "responses": lambda value: value.get("type") == "function_call",
        "gemini": lambda value: "args" in value,
    }
    return [each for each in objects(body) if holders[wire](each)]


def calls(wire: str, body: Any) -> list[dict[str, Any]]:
    """Return the two calls of a request."""
    first, second = every_call(wire, body)
    return [first, second]


def with_exchanged_arguments(wire: str, body: Any) -> Any:
    """Return a request in which each call has the arguments of the other one, under its own id."""
    body = deepcopy(body)
    first, second = calls(wire, body)
    key = CALLED[wire]
    first[key], second[key] = second[key], first[key]
    return body


def with_ids_of_its_own(wire: str, body: Any) -> Any:
    """Return a request in which each call and its result have another id."""
    text = json.dumps(body)
    for number, call in enumerate(calls(wire, body)):
        identity = call.get("call_id") or call.get("id")
        text = text.replace(json.dumps(identity), json.dumps(f"own_{number}_{str(identity)[::-1]}"))
    return json.loads(text)


def levels(wire: str, provider: str, variant: str, change: Callable[[str, Any], Any]) -> dict[str, Level]:
    """Return the rules that a session breaks after a change to its second request, with their levels."""
    profile, (first, second) = session(wire, provider, variant)
    changed = replace(second, request=change(wire, second.request))
    outcomes = check((first, changed), profile)
    return {each.rule: each.level for each in outcomes if each.status is Status.FAILED and each.level is not Level.MAY}


@every(("wire", "provider"), WIRES)
def test_a_call_is_compared_by_what_it_says_and_not_by_its_id_alone(wire: str, provider: str) -> None:
    for variant in ("plain", "stream"):
        assert {} == levels(wire, provider, variant, lambda _wire, body: body)
        assert levels(wire, provider, variant, with_exchanged_arguments)[UNCHANGED] is Level.MUST
        own = levels(wire, provider, variant, with_ids_of_its_own)
        assert Level.MUST not in own.values(), own


@every(("wire", "provider"), WIRES)
def test_a_client_may_give_calls_other_ids_where_theirs_were_used_before(wire: str, provider: str) -> None:
    for variant in ("plain", "stream"):
        profile, exchanges = session(wire, provider, variant, "ids-restart")
        number = next(at for at, each in enumerate(exchanges) if len(every_call(wire, each.request)) > 2)
        *before, last = exchanges[: number + 1]
        at = len(every_call(wire, before[-1].request))
        late = [each.get("call_id") or each.get("id") for each in every_call(wire, last.request)[at:]]
        text = json.dumps(last.request)
        for identity in late:
            head, _, rest = text.rpartition(json.dumps(identity))
            head, _, middle = head.rpartition(json.dumps(identity))
            text = head + json.dumps(f"own_{identity}") + middle + json.dumps(f"own_{identity}") + rest
        outcomes = check((*before, replace(last, request=json.loads(text))), profile)
        broken = {each.rule: each.findings[0].message for each in outcomes if each.status is Status.FAILED}
        assert UNCHANGED not in broken, (variant, broken)


def test_of_a_reply_that_is_sent_back_in_two_the_part_without_its_reasoning_is_the_cause() -> None:
    def in_two(_wire: str, body: Any) -> Any:
        body = deepcopy(body)
        at = next(number for number, each in enumerate(body["messages"]) if each.get("tool_calls"))
        whole = body["messages"][at]
        said = {"role": "assistant", "content": "One moment.", "reasoning_content": whole["reasoning_content"]}
        called = {"role": "assistant", "content": "", "tool_calls": whole["tool_calls"]}
        body["messages"][at : at + 1] = [said, called]
        return body

    assert {"reasoning/present-on-tool-turns": Level.MUST} == levels("chat", "deepseek", "plain", in_two)


def test_on_gemini_a_content_in_two_lacks_the_signature_of_its_calls() -> None:
    def in_two(_wire: str, body: Any) -> Any:
        body = deepcopy(body)
        at = next(number for number, each in enumerate(body["contents"]) if each["role"] == "model")
        parts = body["contents"][at]["parts"]
        for part in parts:
            part.pop("thoughtSignature", None)
        called = {"role": "model", "parts": [part for part in parts if "functionCall" in part]}
        body["contents"][at : at + 1] = [{"role": "model", "parts": [{"text": "One moment."}]}, called]
        return body

    found = levels("gemini", "gemini", "plain", in_two)
    assert found["gemini/signature-on-first-call"] is Level.MUST


def items_in(order: tuple[str, ...]) -> dict[str, Level]:
    """Return the rules that a session breaks that sends the items of a reply, with their ids, in another order.

    The reply has reasoning, then a text, then a call.
    """
    profile, (first, second, third, *_) = session("responses", "openai", "plain", "agent-session")
    given = {each["type"]: each for each in second.response["output"]}
    assert ["reasoning", "message", "function_call"] == list(given)
    kept = [{key: value for key, value in given[kind].items() if key != "status"} for kind in order]
    body = deepcopy(third.request)
    before = [each for each in body["input"] if each.get("type") == "function_call_output"][:-1]
    start = body["input"].index(before[-1]) + 1
    last = body["input"][-1]
    assert given["function_call"]["call_id"] == last["call_id"]
    body["input"][start:] = [*kept, last]
    stored = [
        replace(each, request={**each.request, "store": True}, response={**each.response, "store": True})
        for each in (first, second)
    ]
    outcomes = check((*stored, replace(third, request={**body, "store": True})), profile)
    return {each.rule: each.level for each in outcomes if each.status is Status.FAILED and each.level is Level.MUST}


@every(
    ("order", "expected"),
    [
        (("reasoning", "message", "function_call"), set()),
        (("message", "reasoning", "function_call"), {"responses/message-with-reasoning"}),
        (("function_call", "reasoning", "message"), {"responses/call-with-reasoning"}),
    ],
)
def test_on_responses_the_item_that_comes_before_its_reasoning_is_the_cause(
    order: tuple[str, ...], expected: set[str]
) -> None:
    assert expected <= items_in(order).keys()
    assert bool(expected) is bool(items_in(order))


def test_on_messages_two_turns_of_the_assistant_are_one_so_that_neither_lacks_its_thinking() -> None:
    def in_two(_wire: str, body: Any, *, kept: bool = True) -> Any:
        body = {**deepcopy(body), "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096}
        at = next(number for number, each in enumerate(body["messages"]) if each["role"] == "assistant")
        blocks = body["messages"][at]["content"]
        parts = [[each for each in blocks if each["type"] == kind] for kind in ("thinking", "tool_use")]
        sent = [{"role": "assistant", "content": each} for each in parts[0 if kept else 1 :]]
        body["messages"][at : at + 1] = sent
        return body

    assert {} == levels("messages", "anthropic", "plain", in_two)
    lacking = levels("messages", "anthropic", "plain", partial(in_two, kept=False))
    assert lacking["reasoning/present-on-tool-turns"] is Level.MUST
