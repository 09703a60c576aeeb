"""OpenAI Responses whose history the server holds: what is known of it, and what cannot be checked."""

from typing import Any

import pytest

from conformance import wires
from conformance.documents.pointer import REMOVE
from conformance.judge import check
from conformance.wire.exchange import Exchange
from conformance.wire.unseen import unseen
from tests.test_protocol_responses import CALL, OUTPUT, conversation, roles, sent, translated


def test_a_held_history_is_the_one_that_the_response_stands_for() -> None:
    held = translated("responses-held-session")
    assert ["system", "user", "assistant", "tool", "tool"] == roles(held[1].request["messages"])
    assert ["system", "user", "assistant", "tool", "tool", "assistant", "user"] == roles(held[2].request["messages"])
    native = held[2].native
    assert native is not None
    assert "whole" == native.facts["history"]
    assert range(1, 6) == native.held


def test_nothing_is_said_about_results_whose_calls_only_the_server_has() -> None:
    alone = conversation("responses-held-session")[1:2]
    native = wires.translate(alone)[0].native
    assert native is not None
    assert "unknown" == native.facts["history"]
    assert (("request", "input", 0), ("request", "input", 1)) == native.facts["unjudged"]
    assert [] == [outcome.rule for outcome in check(alone) if outcome.findings]


@pytest.mark.parametrize(
    ("state", "named"),
    [
        ({"conversation": "conv_1"}, " (conversation 'conv_1')"),
        ({"conversation": {"id": "conv_1"}}, " (conversation 'conv_1')"),
        ({"previous_response_id": "resp_9"}, " (previous_response_id 'resp_9')"),
        ({"prompt": {"id": "pmpt_1"}}, " (prompt 'pmpt_1')"),
    ],
)
def test_the_state_that_only_the_server_has_is_named_with_what_cannot_be_judged(state: Any, named: str) -> None:
    alone = sent([OUTPUT], **state)
    place = "; not checked against it: /request/input/0"
    assert [f"exchange 0 refers to what only the server has{named}{place}"] == unseen((alone,))
    assert [] == [outcome.rule for outcome in check((alone,)) if outcome.findings]


def test_what_a_conversation_holds_is_what_its_earlier_exchanges_said() -> None:
    held = {"/1/request/previous_response_id": REMOVE, "/1/request/conversation": "conv_1"}
    begun = translated("responses-held-session", {**held, "/0/request/conversation": {"id": "conv_1"}})
    assert ["system", "user", "assistant", "tool", "tool"] == roles(begun[1].request["messages"])
    # What it held before the first of them stays unknown.
    assert ["exchange 0 refers to what only the server has (conversation 'conv_1')"] == unseen(begun[:2])


def test_a_reference_is_the_item_that_it_names_or_is_named_as_unjudged() -> None:
    edits = {"/1/request/input/2": {"type": "item_reference", "id": "fc_01"}}
    native = translated("responses-session", edits)[1].native
    assert native is not None
    assert "unjudged" not in native.facts
    made = sent([{"type": "item_reference", "id": "fc_9"}, OUTPUT])
    assert made.native is not None
    assert (("request", "input", 0), ("request", "input", 1)) == made.native.facts["unjudged"]


def test_a_long_held_session_costs_no_more_than_its_requests() -> None:
    steps = [_step(number) for number in range(1, 400)]
    counts = [len(each.request["messages"]) for each in wires.translate(tuple(steps))]
    assert max(counts) < 40
    assert [] == [outcome.rule for outcome in check(tuple(steps)) if outcome.findings]


def _step(number: int) -> Exchange:
    call = {**CALL, "id": f"fc_{number}", "call_id": f"call_{number}"}
    given: Any = {**OUTPUT, "call_id": f"call_{number - 1}"} if number > 1 else {"role": "user", "content": "Go."}
    body = {"model": "m", "input": [given], "tools": [{"type": "function", "name": "run", "parameters": {}}]}
    body |= {"previous_response_id": f"resp_{number - 1}"} if number > 1 else {}
    reply = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": "m", "output": [call]}
    return Exchange(request=body, response={**reply, "parallel_tool_calls": True}, status=200, url="/v1/responses")
