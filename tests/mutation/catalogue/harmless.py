"""Harmless changes: what the canonical wire permits, so no rule may fail on it."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import mutation
from tests.mutation.targets import Call, Reply, Slot, in_last_request, streaming


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object within a value, itself included."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(each)


def _in_replies(records: Sequence[Record]) -> list[dict[str, Any]]:
    return [each for record in records if record["status"] == 200 for each in _objects(record["response"])]


@mutation(_in_replies)
def key_of_a_vendor_in_reply(holder: dict[str, Any]) -> None:
    """An object of a reply has a key specific to the provider."""
    holder["x_vendor"] = {"cost": 1}


@mutation(_in_replies)
def null_key_of_a_vendor_in_reply(holder: dict[str, Any]) -> None:
    """An object of a reply has a key specific to the provider, with null."""
    holder["x_vendor"] = None


@mutation(targets.requests)
def parameter_of_a_vendor(body: dict[str, Any]) -> None:
    """A request has a parameter of one provider."""
    body["x_vendor"] = True


@mutation(targets.requests)
def usual_parameters(body: dict[str, Any]) -> None:
    """A request sets common parameters."""
    body.update(temperature=0.2, top_p=1, n=1, stop=["."], seed=7, max_tokens=64, user="ada")


@mutation(targets.messages("user", "system", "tool"))
def content_in_parts(message: Slot) -> None:
    """The content of a message is a text part."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]


@mutation(targets.messages("user", "system", "assistant"))
def message_with_name(message: Slot) -> None:
    """A message has the name of its author."""
    message.value["name"] = "ada"


@mutation(targets.tool_turns)
def nothing_said_is_null(turn: Slot) -> None:
    """The content of a message with calls is null."""
    turn.value["content"] = None


@mutation(targets.tool_turns)
def nothing_said_is_left_out(turn: Slot) -> None:
    """A message with calls has no content."""
    turn.value.pop("content", None)


@mutation(targets.messages("tool"))
def result_without_output(result: Slot) -> None:
    """A tool result is empty."""
    result.value["content"] = ""


@mutation(targets.chunks)
def comment_between_events(chunk: Slot) -> None:
    """A comment stands between events, to keep the connection alive."""
    chunk.holder.insert(chunk.key, ": ping\n\n")


@mutation(targets.streams)
def lines_end_as_in_http(record: Record) -> None:
    """The lines of a stream end with CR and LF, and no space follows the colon."""
    events = record["response"]
    data = [orjson.dumps(each).decode() if isinstance(each, dict) else "[DONE]" for each in events]
    record["response"] = [f"data:{each}\r\n\r\n" for each in data]


@mutation(targets.streams)
def usage_null_meanwhile(record: Record) -> None:
    """The usage of all chunks but the last is null."""
    for event in record["response"]:
        if isinstance(event, dict):
            event.setdefault("usage", None)


@mutation(streaming(targets.replies))
def usage_with_finish_reason(reply: Reply) -> None:
    """The token count comes in the chunk of the finish reason."""
    events, at = reply.record["response"], reply.ending_position
    if isinstance(events[at + 1], dict):
        events[at]["usage"] = events.pop(at + 1)["usage"]


@mutation(streaming(targets.replies))
def finish_reason_with_the_last_delta(reply: Reply) -> None:
    """The finish reason comes with the last content or call."""
    events, at = reply.record["response"], reply.ending_position
    if not reply.ending["delta"]:
        events[at - 1]["choices"][0]["finish_reason"] = reply.ending["finish_reason"]
        del events[at]


@mutation(streaming(targets.replies))
def role_in_each_delta(reply: Reply) -> None:
    """Every delta has the role."""
    for delta in reply.deltas:
        delta["role"] = "assistant"


@mutation(targets.fragmented_calls)
def call_in_one_fragment(call: Call) -> None:
    """The first fragment of a call holds all of its arguments."""
    arguments = call.arguments
    call.set_arguments("")
    call.first["function"]["arguments"] = arguments


@mutation(targets.replies)
def null_keys_in_message(reply: Reply) -> None:
    """The unused keys of a message are null."""
    reply.deltas[0].update(refusal=None, audio=None, function_call=None, annotations=[])


@mutation(targets.replies_without_calls)
def calls_null(reply: Reply) -> None:
    """The tool calls of a reply without calls are null."""
    reply.deltas[0]["tool_calls"] = None


@mutation(targets.reply_calls)
def arguments_with_white_space(call: Call) -> None:
    """The arguments of a call have white space around them."""
    call.set_arguments(f" {call.arguments}\n")


@mutation(targets.errors)
def error_with_more(record: Record) -> None:
    """An error has optional keys."""
    record["response"]["request_id"] = "req_1"
    record["response"]["error"]["hint"] = "Look at the key."


@mutation(targets.errors)
def error_without_code(record: Record) -> None:
    """An error has no code."""
    del record["response"]["error"]["code"]


@mutation(targets.exchanges)
def more_headers(record: Record) -> None:
    """A reply has headers specific to the provider."""
    record["headers"]["x-request-id"] = "req_1"


@mutation(in_last_request(targets.messages("user", "system", "tool")), sessions=True)
def content_in_parts_from_now_on(message: Slot) -> None:
    """Content that was sent as a string is sent as a text part in a later request."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]


@mutation(in_last_request(targets.messages("assistant")), sessions=True)
def nothing_said_otherwise(turn: Slot) -> None:
    """The empty content of a reply with calls is sent back as null, or null as the empty string."""
    if not turn.value.get("content"):
        turn.value["content"] = None if turn.value.get("content") == "" else ""


@mutation(in_last_request(targets.exchanges), sessions=True)
def more_tools_from_now_on(record: Record) -> None:
    """A later request declares one more tool."""
    tool = {"type": "function", "function": {"name": "get_rain", "parameters": {"type": "object"}}}
    record["request"].setdefault("tools", []).append(tool)


@mutation(in_last_request(targets.exchanges), sessions=True)
def another_model_from_now_on(record: Record) -> None:
    """A later request asks for another model."""
    record["request"]["model"] = "example-model-2"


@mutation(in_last_request(targets.exchanges), sessions=True)
def asked_more_at_once(record: Record) -> None:
    """A request has one more user message at the end."""
    record["request"]["messages"].append({"role": "user", "content": "And in Rome?"})


@mutation(targets.exchanges, sessions=True)
def reply_not_recorded(record: Record) -> None:
    """The reply to one of the requests was not recorded."""
    for key in ("response", "status", "headers"):
        record[key] = {} if key == "headers" else None
