"""Each of many faults of clients, played against the simulator, is caught by its rule; the client without it is not."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from conformance import profiles, scenarios
from conformance.adapters.case import check_session, client_session
from conformance.adapters.job import job_of
from conformance.adapters.loop import DriverAnswer
from conformance.results import Level, Outcome, Status
from conformance.simulator.sessions import SessionServer
from tests.agents import Agent, Broken, Edit, directly
from tests.loops import every
from tests.sampling import some

Messages: TypeAlias = list[dict[str, Any]]
Message: TypeAlias = dict[str, Any]

MUST, SHOULD = Level.MUST, Level.SHOULD
REASONING = ("reasoning_content", "reasoning", "reasoning_details")


class ClientFault(NamedTuple):
    """A fault of a client, as an edit of the messages of each request, and the rule and words that report it."""

    name: str
    edit: Edit
    provider: str
    scenario: str
    rule: str
    level: Level
    words: str


def turns(messages: Messages) -> list[int]:
    """Return the positions of the assistant messages with calls."""
    return [at for at, message in enumerate(messages) if message.get("tool_calls")]


def results_of(messages: Messages, turn: int) -> list[int]:
    """Return the positions of the tool messages that follow an assistant message."""
    end = turn + 1
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    return list(range(turn + 1, end))


def each_turn(change: Callable[[Message], Message]) -> Edit:
    """Return an edit that changes each assistant message with calls."""
    return lambda messages: [change(dict(each)) if each.get("tool_calls") else each for each in messages]


def each_call(change: Callable[[Message], Message]) -> Edit:
    return each_turn(lambda turn: {**turn, "tool_calls": [change(dict(call)) for call in turn["tool_calls"]]})


def each_result(change: Callable[[Message], Message]) -> Edit:
    return lambda messages: [change(dict(each)) if each["role"] == "tool" else each for each in messages]


def reasoning_changed(change: Callable[[str], str]) -> Edit:
    return each_turn(lambda turn: {key: change(turn[key]) if key in REASONING[:2] else turn[key] for key in turn})


def details_changed(change: Callable[[Sequence[Any]], Sequence[Any]]) -> Edit:
    key = "reasoning_details"
    return each_turn(lambda turn: {**turn, key: change(turn[key])} if turn.get(key) else turn)


def reasoning_dropped(turn: Message) -> Message:
    return {key: value for key, value in turn.items() if key not in REASONING}


def signature_dropped(call: Message) -> Message:
    return {key: value for key, value in call.items() if key != "extra_content"}


def arguments_changed(call: Message, change: Callable[[str], str]) -> Message:
    return {**call, "function": {**call["function"], "arguments": change(call["function"]["arguments"])}}


def text_beside_details(turn: Message) -> Message:
    return {**turn, "reasoning": "A summary of the details."} if turn.get("reasoning_details") else turn


def results_by_id(messages: Messages) -> Messages:
    """Store results by id, so that the latest result of an id replaces all older ones."""
    stored = {each["tool_call_id"]: each["content"] for each in messages if each["role"] == "tool"}
    return [{**each, "content": stored[each["tool_call_id"]]} if each["role"] == "tool" else each for each in messages]


def results_swapped(messages: Messages) -> Messages:
    changed = [dict(each) for each in messages]
    for turn in turns(messages):
        own = results_of(messages, turn)
        for at, other in zip(own, reversed(own), strict=True):
            changed[at]["content"] = messages[other]["content"]
    return changed


def results_reversed(messages: Messages) -> Messages:
    changed = list(messages)
    for turn in turns(messages):
        own = results_of(messages, turn)
        for at, other in zip(own, reversed(own), strict=True):
            changed[at] = messages[other]
    return changed


def last_result_dropped(messages: Messages) -> Messages:
    return messages[:-1] if messages[-1]["role"] == "tool" else messages


def last_result_doubled(messages: Messages) -> Messages:
    return [*messages, messages[-1]] if messages[-1]["role"] == "tool" else messages


def calls_dropped(messages: Messages) -> Messages:
    """Send each reply with calls without its calls and without their results."""
    kept = [each for each in messages if each["role"] != "tool"]
    return [{key: value for key, value in each.items() if key not in ("tool_calls", *REASONING)} for each in kept]


def reply_dropped(messages: Messages) -> Messages:
    """Leave out the newest reply with calls, and send only the results."""
    last = turns(messages)[-1:] if messages[-1]["role"] == "tool" else []
    return [each for at, each in enumerate(messages) if at not in last]


def calls_as_text(messages: Messages) -> Messages:
    """Retell the newest reply with calls and its results as text."""
    if messages[-1]["role"] != "tool":
        return messages
    last = turns(messages)[-1]
    names = ", ".join([call["function"]["name"] for call in messages[last]["tool_calls"]])
    observed = ", ".join([messages[at]["content"] for at in results_of(messages, last)])
    return [
        *messages[:last],
        {"role": "assistant", "content": f"I call {names}."},
        {"role": "user", "content": f"Observation: {observed}"},
    ]


def text_and_calls_split(messages: Messages) -> Messages:
    changed: Messages = []
    for each in messages:
        if each.get("tool_calls") and each.get("content"):
            changed += [{"role": "assistant", "content": each["content"]}, {**each, "content": None}]
        else:
            changed.append(each)
    return changed


def calls_split(messages: Messages) -> Messages:
    """Send each call of a reply in a message of its own, followed by its result."""
    changed: Messages = []
    for at, each in enumerate(messages):
        if each.get("tool_calls"):
            pairs = zip(each["tool_calls"], [messages[own] for own in results_of(messages, at)], strict=False)
            changed += [part for call, own in pairs for part in ({**each, "tool_calls": [call]}, own)]
        elif each["role"] != "tool":
            changed.append(each)
    return changed


def first_user_message_dropped(messages: Messages) -> Messages:
    users = [at for at, each in enumerate(messages) if each["role"] == "user"]
    return [each for at, each in enumerate(messages) if len(users) < 2 or at != users[0]]


def older_user_message_stamped(messages: Messages) -> Messages:
    users = [at for at, each in enumerate(messages) if each["role"] == "user"]
    stamped = {**messages[users[0]], "content": f"[at noon] {messages[users[0]]['content']}"}
    return [stamped if len(users) > 1 and at == users[0] else each for at, each in enumerate(messages)]


def older_results_cleared(messages: Messages) -> Messages:
    last = turns(messages)[-1:] or [len(messages)]
    cleared = {"content": "(old result cleared)"}
    return [
        {**each, **cleared} if each["role"] == "tool" and at < last[0] else each for at, each in enumerate(messages)
    ]


def history_forgotten(messages: Messages) -> Messages:
    users = [at for at, each in enumerate(messages) if each["role"] == "user"]
    return [*[each for each in messages[:1] if each["role"] == "system"], *messages[users[-1] :]]


def ids_rewritten(messages: Messages) -> Messages:
    new = {call["id"]: f"toolu_{call['id']}" for each in messages for call in each.get("tool_calls") or ()}
    changed = each_call(lambda call: {**call, "id": new[call["id"]]})(messages)
    return [
        {**each, "tool_call_id": new[each["tool_call_id"]]} if each["role"] == "tool" else dict(each)
        for each in changed
    ]


def reserialized(arguments: str) -> str:
    return json.dumps(json.loads(arguments), indent=2)


AGENT, RESTART, DETAILS = "agent-session", "ids-restart", "details-signed"
RESENT, UNCHANGED, GROWS = (
    "transcript/reply-resent", "transcript/reply-resent-unchanged", "transcript/history-append-only",
)  # fmt: skip
VERBATIM, OWN_RESULT = "reasoning/verbatim", "loop/result-matches-call"

FAULTS = [
    ClientFault("drops required reasoning", each_turn(reasoning_dropped), "deepseek", AGENT, "reasoning/present-on-tool-turns", MUST, "got none"),
    ClientFault("drops reasoning, accepted", each_turn(reasoning_dropped), "zai", AGENT, "reasoning/resent-on-tool-turns", MUST, "got none"),
    ClientFault("summarizes reasoning", reasoning_changed(lambda _: "Two cities."), "zai", AGENT, VERBATIM, MUST, "got 'Two cities.'"),
    ClientFault("trims reasoning", reasoning_changed(lambda text: text[:-1]), "deepseek", AGENT, VERBATIM, MUST, "as in the reply"),
    ClientFault("empties reasoning", reasoning_changed(lambda _: ""), "sglang", AGENT, VERBATIM, MUST, "got ''"),
    ClientFault("drops a reasoning detail", details_changed(lambda details: details[:-1]), "openrouter", DETAILS, "reasoning/details-unchanged", MUST, "got none of type"),
    ClientFault("reorders reasoning details", details_changed(lambda details: details[::-1]), "openrouter", DETAILS, "reasoning/details-unchanged", MUST, "in the reply's order"),
    ClientFault("rebuilds text beside details", each_turn(text_beside_details), "openrouter", DETAILS, VERBATIM, SHOULD, "beside intact reasoning_details"),
    ClientFault("drops signatures", each_call(signature_dropped), "gemini_openai_compat", AGENT, "reasoning/signatures-resent", MUST, "got None"),
    ClientFault("overwrites older results by id", results_by_id, "deepseek", RESTART, OWN_RESULT, MUST, "of another reply"),
    ClientFault("overwrites older results by id, in check", results_by_id, "deepseek", RESTART, GROWS, MUST, "the result of a later call"),
    ClientFault("swaps results", results_swapped, "deepseek", AGENT, OWN_RESULT, MUST, "got that of call"),
    ClientFault("sends results in another order", results_reversed, "deepseek", AGENT, "transcript/results-in-call-order", SHOULD, "got"),
    ClientFault("drops a result", last_result_dropped, "deepseek", AGENT, "transcript/calls-answered", MUST, "got none"),
    ClientFault("sends a result twice", last_result_doubled, "deepseek", AGENT, "transcript/one-result-per-call", MUST, "got"),
    ClientFault("sends a reply without its calls", calls_dropped, "deepseek", AGENT, RESENT, MUST, "without its calls"),
    ClientFault("drops a reply with calls", reply_dropped, "deepseek", AGENT, RESENT, MUST, "and no reply"),
    ClientFault("retells calls as text", calls_as_text, "deepseek", AGENT, RESENT, MUST, "got 'I call get_forecast"),
    ClientFault("splits text and calls", text_and_calls_split, "zai", AGENT, UNCHANGED, MUST, "split into messages"),
    ClientFault("splits parallel calls", calls_split, "zai", AGENT, UNCHANGED, MUST, "split into messages"),
    ClientFault("rewrites arguments", each_call(lambda call: arguments_changed(call, reserialized)), "deepseek", AGENT, UNCHANGED, SHOULD, "expected the arguments"),
    ClientFault("encodes arguments twice", each_call(lambda call: arguments_changed(call, json.dumps)), "deepseek", AGENT, UNCHANGED, MUST, "expected the arguments"),
    ClientFault("rewrites ids", ids_rewritten, "deepseek", AGENT, UNCHANGED, SHOULD, "expected id"),
    ClientFault("loses a user message", first_user_message_dropped, "deepseek", AGENT, "transcript/no-user-message-lost", MUST, "(user), got none"),
    ClientFault("edits an older user message", older_user_message_stamped, "deepseek", AGENT, GROWS, SHOULD, "got '[at noon]"),
    ClientFault("clears older results", older_results_cleared, "deepseek", AGENT, GROWS, SHOULD, "got '(old result cleared)'"),
    ClientFault("forgets earlier prompts", history_forgotten, "deepseek", AGENT, "loop/history-sent", MUST, "to include"),
    ClientFault("sends its own fields", each_result(lambda message: {**message, "isError": False}), "deepseek", AGENT, "request/no-local-only-fields", SHOULD, "isError"),
    ClientFault("sends the index of fragments", each_call(lambda call: {**call, "index": 0}), "openai", AGENT, "request/no-unknown-fields", SHOULD, "index"),
]  # fmt: skip
# ruff: noqa: E501 — one line per fault is a table


@cache
def outcomes(provider: str, scenario: str, variant: str, name: str = "") -> Mapping[str, Outcome]:
    """Return the outcomes of a client with the fault of a name, or of the conforming one."""
    edit = next((fault.edit for fault in FAULTS if fault.name == name), list)
    session = SessionServer().open(scenarios.load(scenario), profiles.load(provider), variant)
    agent = Agent(session, directly(session), edit)
    try:
        agent.run()
    except Broken as error:
        agent.texts.append(f"Broken: {error}")
    job = job_of(session)
    answer = DriverAnswer(texts=tuple(agent.texts))
    return {each.rule: each for each in check_session(client_session(session, job, answer), session.profile)}


@every("variant", some(["stream", "plain"]))
@every("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_a_fault_of_a_client_is_caught_by_its_rule(fault: ClientFault, variant: str) -> None:
    found = outcomes(fault.provider, fault.scenario, variant, fault.name)[fault.rule]
    assert Status.FAILED is found.status, found.reason
    assert fault.level is found.level
    assert {"client"} == {finding.side for finding in found.findings}
    assert fault.words in " ".join(finding.message for finding in found.findings)


@every("variant", some(["stream", "plain"]))
@every(("provider", "scenario"), sorted({(fault.provider, fault.scenario) for fault in FAULTS}))
def test_the_conforming_client_breaks_no_rule(provider: str, scenario: str, variant: str) -> None:
    bad = (Status.FAILED, Status.UNTESTED, Status.ERRORED)
    found = outcomes(provider, scenario, variant).values()
    assert [] == [(each.rule, each.reason, each.findings) for each in found if each.status in bad]
