"""Faults about tools that are not functions: pairs cut apart, reasoning left out, types that a host rejects."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from tests.mutation import definition, targets
from tests.mutation.bases import Record
from tests.mutation.definition import REJECTED, SURVIVED, Allowed
from tests.mutation.native_targets import blocks, items, last, where
from tests.mutation.targets import Slot, in_last_request

on_messages = partial(definition.mutation, wire="messages")
on_responses = partial(definition.mutation, wire="responses")

_CALL: Final = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"query": "Paris"}}
_RESULT: Final = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": []}
_ASKED: Final = {"type": "server_tool_use", "id": "srvtoolu_02", "name": "advisor", "input": {}}
_ADVICE: Final = {
    "type": "advisor_tool_result",
    "tool_use_id": "srvtoolu_02",
    "content": {"type": "advisor_result", "text": "Go on."},
}
_SEARCH: Final = {"type": "tool_search_call", "call_id": "call_s", "execution": "client", "arguments": {}}
_TOOLS: Final = {"type": "tool_search_output", "call_id": "call_s", "execution": "client", "tools": []}
_SEARCH_REJECTED: Final = {"tools.unsupported-types": {"kinds": ["web_search*"], "refusal": REJECTED}}


def _ended_text(block: Slot) -> bool:
    """Return whether a block is a text of the assistant with a message of the user behind it."""
    listed = block.record["request"]["messages"]
    at = next(at for at, message in enumerate(listed) if message["content"] is block.holder)
    is_said = at + 1 < len(listed) and isinstance(listed[at + 1]["content"], str)
    return listed[at]["role"] == "assistant" and is_said


@on_messages(where(blocks("text"), _ended_text), "messages/server-results-paired")
def result_of_no_server_call(block: Slot) -> None:
    """The result of a server tool is sent back without its call."""
    block.holder.insert(block.key, dict(_RESULT))


@on_messages(where(blocks("text"), _ended_text), "messages/server-calls-answered")
def server_call_without_result(block: Slot) -> None:
    """The call of a server tool is sent back without its result."""
    block.holder.insert(block.key, dict(_CALL))


@on_messages(where(blocks("text"), _ended_text))
def server_tool_kept_whole(block: Slot) -> None:
    """Both blocks of a server tool are sent back."""
    block.holder[block.key : block.key] = [dict(_CALL), dict(_RESULT)]


@on_messages(where(blocks("text"), _ended_text), "messages/server-blocks-have-their-tool")
def advice_without_advisor(block: Slot) -> None:
    """The blocks of the advisor tool are sent back in a request that does not declare it."""
    block.holder[block.key : block.key] = [dict(_ASKED), dict(_ADVICE)]


@on_messages(targets.requests_with_tools, "native/tool-types-accepted", claims=_SEARCH_REJECTED)
def hosted_search_declared(body: dict[str, Any]) -> None:
    """A request declares a search that only the vendor's own host runs."""
    body["tools"] = [*body["tools"], {"type": "web_search_20260209", "name": "web_search"}]


@on_responses(targets.requests_with_tools, "native/tool-types-accepted", claims=_SEARCH_REJECTED)
def hosted_search_item_declared(body: dict[str, Any]) -> None:
    """A request declares a search that the host does not have."""
    body["tools"] = [*body["tools"], {"type": "web_search"}]


@on_responses(
    last(items("function_call_output")),
    "responses/outputs-paired",
    allows=(Allowed(SURVIVED, "The call may be at the server.", on="responses-held-session/1"),),
)
def tools_found_without_search(item: Slot) -> None:
    """The output of a tool search is sent without its call."""
    item.holder.append(_TOOLS | {"status": "completed"})


@on_responses(last(items("function_call_output")), "responses/calls-answered")
def tool_search_open(item: Slot) -> None:
    """The call of a tool search is sent without its output."""
    item.holder.append(_SEARCH | {"status": "completed"})


def _leads_to_message(item: Slot) -> bool:
    return bool(item.key + 1 < len(item.holder) and item.holder[item.key + 1].get("type") == "message")


def _store(records: Sequence[Record]) -> None:
    for record in records:
        record["request"]["store"] = True
        if isinstance(record["response"], dict):
            record["response"]["store"] = True


@on_responses(
    where(in_last_request(items("reasoning")), _leads_to_message),
    "responses/message-with-reasoning",
    related=("reasoning/resent-on-tool-turns", "responses/call-with-reasoning"),
    sessions=True,
    prepare=_store,
)
def reasoning_left_out_before_message(item: Slot) -> None:
    """The reasoning before a stored message is left out, and the message keeps its id."""
    item.drop()
