"""Calls and results cut apart, wrong ids and empty replies, on each wire: what a finding says of them."""

from typing import Any

from conformance.judge import check
from conformance.wire.exchange import Exchange
from tests.loops import every

USER = {"role": "user", "content": "Hi"}
FUNCTION = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def responses(*items: dict[str, Any]) -> Exchange:
    request = {"model": "gpt-5.5", "input": [USER, *items]}
    return Exchange(request=request, url="https://api.openai.com/v1/responses")


def messages(*blocks: dict[str, Any], after: Any = "Go on.") -> Exchange:
    turns = [USER, {"role": "assistant", "content": [*blocks]}, {"role": "user", "content": after}]
    request = {"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": turns}
    return Exchange(request=request, url="https://api.anthropic.com/v1/messages")


def chat(result_id: str) -> Exchange:
    turn = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": result_id, "content": "18"}
    return Exchange(request={"model": "gpt-5", "messages": [USER, turn, result]})


def output(call_id: str, kind: str = "function_call_output") -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "output": "18"}


SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
SERVER_RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "msg_01", "content": "18"}

WRONG_IDS: list[tuple[Exchange, str]] = [
    (responses(FUNCTION, output("fc_1")), "got 'fc_1', the item id of the call 'call_1', not its call_id"),
    (responses(FUNCTION, output("call_1"), output("fc_7")), "got 'fc_7', the id of an item, not the call_id of a call"),
    (chat("f"), "got 'f', the name of the function of the call 'call_1'"),
    (messages(TOOL_USE, after=[TOOL_RESULT]), "got 'msg_01', the id of a message"),
]


@every(("exchange", "said"), WRONG_IDS)
def test_a_wrong_id_is_named(exchange: Exchange, said: str) -> None:
    (outcome,) = check(exchange, rules="transcript/result-answers-call")
    assert [True] == [found.message.endswith(said) for found in outcome.findings]


REFUSED: list[tuple[Exchange, str, str]] = [
    (
        messages(SERVER_RESULT),
        "anthropic",
        (
            "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each "
            "`web_search_tool_result` block must have a corresponding `server_tool_use` block before it."
        ),
    ),
    (
        messages(SERVER_CALL),
        "anthropic",
        (
            "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding "
            "`web_search_tool_result` block"
        ),
    ),
    (
        responses(output("call_1", "tool_search_output")),
        "openai",
        "No tool call found for tool search output with call_id call_1.",
    ),
    (
        responses({"type": "tool_search_call", "call_id": "call_1", "execution": "client", "arguments": {}}),
        "openai",
        "No tool output found for tool search call call_1.",
    ),
]


@every(("exchange", "provider", "text"), REFUSED)
def test_an_orphan_is_answered_in_the_words_of_the_host(exchange: Exchange, provider: str, text: str) -> None:
    findings = [found for outcome in check(exchange, provider) for found in outcome.findings]
    assert text in [found.refusal.message for found in findings if found.refusal is not None]


def test_an_open_server_call_may_be_answered_by_sending_the_reply_back() -> None:
    for after in ([], [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "18"}]):
        (outcome,) = check(messages(SERVER_CALL, TOOL_USE, after=after), rules="messages/server-calls-answered")
        assert () == outcome.findings
