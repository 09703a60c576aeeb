"""Faults of clients on the wire of Messages."""

from functools import partial
from typing import Any, Final

from tests.mutation import definition, native_targets, targets
from tests.mutation.definition import REJECTED
from tests.mutation.native_targets import blocks, last, messages, where
from tests.mutation.targets import Slot, in_last_request, keys

mutation = partial(definition.mutation, wire="messages")


_KINDS: Final = ("tool_use", "tool_result", "text", "thinking")
_REQUIRED: Final = {
    "thinking.mode": "always",
    "reasoning.request-field": "reasoning_details",
    "reasoning.omitted-on-tool-turn": REJECTED,
}


def _has_calls(message: Slot) -> bool:
    content = message.value["content"]
    return isinstance(content, list) and any(block["type"] == "tool_use" for block in content)


def _is_open(block: Slot) -> bool:
    """Return whether a block is in the turn whose results the request brings."""
    listed = block.record["request"]["messages"]
    return len(listed) > 1 and block.holder is listed[-2]["content"]


@mutation(where(blocks("thinking"), _is_open), "reasoning/present-on-tool-turns", claims=_REQUIRED)
def thinking_left_out(block: Slot) -> None:
    """The thinking of the open tool turn is left out, for a provider that requires it."""
    block.drop()


@mutation(where(blocks("thinking"), _is_open), "messages/thinking-first")
def thinking_behind_call(block: Slot) -> None:
    """The thinking of the open tool turn stands behind the call that it led to."""
    thinking = block.value
    block.drop()
    block.holder.append(thinking)


@mutation(blocks("thinking"), "messages/thinking-not-cached")
def thinking_marked_for_the_cache(block: Slot) -> None:
    """A thinking block is marked for the cache."""
    block.value["cache_control"] = {"type": "ephemeral"}


@mutation(blocks("thinking"), "messages/thinking-signed")
def signature_left_out(block: Slot) -> None:
    """A thinking block is sent back without its signature."""
    del block.value["signature"]


@mutation(blocks("thinking"), "messages/thinking-signed", related=("native/request-shape",))
def signature_null(block: Slot) -> None:
    """A thinking block is sent back with null in place of its signature."""
    block.value["signature"] = None


@mutation(in_last_request(blocks("thinking")), "reasoning/details-unchanged", sessions=True)
def signature_altered(block: Slot) -> None:
    """The signature of a thinking block is not the one that came with it."""
    block.value["signature"] = "b3RoZXI="


@mutation(in_last_request(blocks("thinking")), "reasoning/details-unchanged", sessions=True)
def thinking_altered(block: Slot) -> None:
    """The text of a thinking block is not the one that came."""
    block.value["thinking"] += " Then answer."


@mutation(in_last_request(blocks("thinking")), "reasoning/resent-on-tool-turns", sessions=True)
def thinking_left_out_of_session(block: Slot) -> None:
    """The thinking of an earlier reply is left out."""
    block.drop()


@mutation(last(blocks("tool_result")), "transcript/results-follow-calls")
def text_before_results(block: Slot) -> None:
    """A text stands before the results of a turn."""
    block.holder.insert(0, {"type": "text", "text": "Here they are."})


@mutation(last(blocks("tool_result")), "transcript/results-follow-calls")
def text_between_results(block: Slot) -> None:
    """A text stands between the results of a turn."""
    block.holder.insert(block.key, {"type": "text", "text": "And the other one."})


@mutation(last(blocks("tool_result")), "transcript/calls-answered", related=("transcript/result-answers-call",))
def results_in_two_turns(block: Slot) -> None:
    """The results of a turn are in two messages, and the assistant speaks between them."""
    listed = block.record["request"]["messages"]
    at = next(at for at, message in enumerate(listed) if message["content"] is block.holder)
    result = block.value
    block.drop()
    said = {"role": "assistant", "content": [{"type": "text", "text": "One more."}]}
    listed[at + 1 : at + 1] = [said, {"role": "user", "content": [result]}]


@mutation(blocks("tool_result"), "transcript/calls-answered")
def result_left_out_of_message(block: Slot) -> None:
    """A call has no result in the next message."""
    block.drop()


@mutation(blocks("tool_result"), "transcript/one-result-per-call")
def result_block_twice(block: Slot) -> None:
    """A call has two results."""
    block.holder.insert(block.key, dict(block.value))


@mutation(blocks("tool_result"), "transcript/result-answers-call", related=("transcript/calls-answered",))
def result_for_another_id(block: Slot) -> None:
    """A result names a call that there is not."""
    block.value["tool_use_id"] = "toolu_other"


@mutation(blocks("tool_use"), "transcript/calls-answered", related=("transcript/result-answers-call",))
def call_with_another_id(block: Slot) -> None:
    """A call is sent back under another id than its result names."""
    block.value["id"] = "toolu_other"


@mutation(
    where(blocks("tool_use"), lambda block: block.holder[block.key - 1]["type"] == "tool_use"),
    "request/tool-call-ids-unique-in-message",
    claims={"ids.duplicate-in-message": REJECTED},
)
def ids_shared_by_blocks(block: Slot) -> None:
    """Two calls of one message have the same id, and their results name it."""
    (result,) = [
        each for each in blocks("tool_result")([block.record]) if each.value["tool_use_id"] == block.value["id"]
    ]
    block.value["id"] = result.value["tool_use_id"] = block.holder[block.key - 1]["id"]


@mutation(messages("user", "assistant"), "messages/text-not-empty")
def empty_text_block(message: Slot) -> None:
    """A message holds a text block without text."""
    content = message.value["content"]
    listed = content if isinstance(content, list) else [{"type": "text", "text": content}]
    message.value["content"] = [*listed, {"type": "text", "text": ""}]


@mutation(messages("user"), "messages/content-not-empty", related=("transcript/calls-answered",))
def user_content_emptied(message: Slot) -> None:
    """A user message has no content."""
    message.value["content"] = ""


@mutation(where(messages("assistant"), lambda message: not _has_calls(message)), "messages/content-not-empty")
def assistant_content_emptied(message: Slot) -> None:
    """An assistant message has an empty list of blocks."""
    message.value["content"] = []


@mutation(messages("user"), "messages/blocks-in-their-role")
def thinking_of_the_user(message: Slot) -> None:
    """A user message holds a thinking block."""
    content = message.value["content"]
    listed = content if isinstance(content, list) else [{"type": "text", "text": content}]
    message.value["content"] = [*listed, {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]


@mutation(
    where(messages("assistant"), _has_calls),
    "messages/blocks-in-their-role",
    related=("transcript/calls-answered",),
)
def results_of_the_assistant(message: Slot) -> None:
    """The results of a turn stand in the message with its calls."""
    results = message.holder[message.key + 1]
    message.value["content"] += results["content"]
    results["content"] = "Go on."


@mutation(last(messages("user")), "messages/no-trailing-whitespace")
def prefill_with_space_at_its_end(message: Slot) -> None:
    """A request ends with the beginning of the answer, and that with a space."""
    message.holder.append({"role": "assistant", "content": "It is "})


@mutation(targets.requests, "messages/temperature-one-with-thinking")
def temperature_of_a_thinking_model(body: dict[str, Any]) -> None:
    """A thinking model is asked for another temperature than 1."""
    body["temperature"] = 0.2


@mutation(targets.requests, "messages/budget-below-max-tokens")
def budget_of_all_tokens(body: dict[str, Any]) -> None:
    """The budget for thinking is as large as that for the whole reply."""
    body["thinking"]["budget_tokens"] = body["max_tokens"]


def _later(records: Any) -> Any:
    """Yield the request at the end of a session that sends thinking back."""
    return (body for body in targets.requests(records[-1:]) if any(blocks("thinking")(records[-1:])))


@mutation(_later, "messages/prefix-unchanged", related=("transcript/history-append-only",), sessions=True)
def system_rebuilt(body: dict[str, Any]) -> None:
    """The system prompt changes in the course of a session."""
    body["system"] = "You are a bot for the weather."


@mutation(_later, "messages/prefix-unchanged", sessions=True)
def tools_changed(body: dict[str, Any]) -> None:
    """A tool is added in the course of a session."""
    body["tools"] = [*body["tools"], {"name": "get_time", "input_schema": {"type": "object"}}]


@mutation(_later, "messages/prefix-unchanged", related=("transcript/history-append-only",), sessions=True)
def question_edited(body: dict[str, Any]) -> None:
    """An earlier message of the user is edited in the course of a session."""
    body["messages"][0]["content"] = "What is the weather in Paris and in Rome?"


@mutation(keys(targets.requests, "max_tokens", "messages", "thinking/budget_tokens"), "native/request-shape")
def native_request_key_dropped(slot: Slot) -> None:
    """A request lacks a required key."""
    slot.drop()


@mutation(
    keys(targets.requests, "max_tokens", "messages", "system", "tools", "thinking", "thinking/type"),
    "native/request-shape",
    related=("tool-calls/name-declared",),
)
def native_request_key_retyped(slot: Slot) -> None:
    """A key of a request has a value of the wrong type."""
    slot.retype()


@mutation(
    keys(blocks(*_KINDS), "id", "name", "input", "tool_use_id", "text", "thinking"),
    "native/request-shape",
    related=("transcript/calls-answered", "transcript/result-answers-call"),
)
def block_key_dropped(slot: Slot) -> None:
    """A block of a request lacks a required key."""
    slot.drop()


@mutation(
    keys(blocks(*_KINDS), "id", "name", "input", "tool_use_id", "text", "thinking"),
    "native/request-shape",
    related=("transcript/calls-answered", "transcript/result-answers-call"),
)
def block_key_retyped(slot: Slot) -> None:
    """A key of a block has a value of the wrong type."""
    slot.retype()


@mutation(
    messages("user", "assistant"),
    "native/request-shape",
    related=("transcript/result-answers-call", "messages/blocks-in-their-role"),
)
def role_of_a_tool(message: Slot) -> None:
    """A message has the role tool, which this wire does not have."""
    message.value["role"] = "tool"


@mutation(last(messages("user")), "messages/system-messages-accepted", claims={"messages.system-role": REJECTED})
def instructions_behind_the_user(message: Slot) -> None:
    """A message has the role system, at a model that does not take it."""
    message.holder.append({"role": "system", "content": "Answer in French."})


@mutation(blocks("tool_result"), "native/result-parts-accepted", claims={"messages.error-result-parts": REJECTED})
def image_in_a_failed_result(block: Slot) -> None:
    """A result that is marked as a failure holds an image, at a model that takes only text there."""
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    block.value.update(is_error=True, content=[{"type": "image", "source": source}])


@mutation(native_targets.messages("user"))
def cache_marked(message: Slot) -> None:
    """A message is marked for the cache."""
    content = message.value["content"]
    listed = content if isinstance(content, list) else [{"type": "text", "text": content}]
    listed[-1]["cache_control"] = {"type": "ephemeral"}
    message.value["content"] = listed


@mutation(last(blocks("tool_result")))
def results_in_neighbouring_messages(block: Slot) -> None:
    """The results of a turn are in two messages of the user, which the server merges."""
    listed = block.record["request"]["messages"]
    at = next(at for at, message in enumerate(listed) if message["content"] is block.holder)
    result = block.value
    block.drop()
    listed.insert(at + 1, {"role": "user", "content": [result]})


@mutation(blocks("tool_result"))
def result_failed(block: Slot) -> None:
    """A result is marked as a failure."""
    block.value["is_error"] = True


@mutation(blocks("tool_use"))
def text_before_call(block: Slot) -> None:
    """The assistant says what it does before it calls."""
    block.holder.insert(block.key, {"type": "text", "text": "Let me look."})
