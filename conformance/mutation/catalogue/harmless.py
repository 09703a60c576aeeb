"""Changes that are no vices: what the canonical wire leaves open, and no rule may speak of."""

# ruff: noqa: D401 — the first line of a change's docstring is told as a fact

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import Find, vice
from conformance.mutation.targets import Call, Reply, Slot, streaming


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object within a value, itself included."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(each)


def _in_replies(records: Sequence[Record]) -> list[dict[str, Any]]:
    return [each for record in records if record["status"] == 200 for each in _objects(record["response"])]


def _ending(reply: Reply) -> int:
    """Return the number of the event with the finish reason."""
    events = reply.record["response"]
    return next(number for number, event in enumerate(events) if reply.ending in event.get("choices", ()))


@vice(_in_replies)
def key_of_a_vendor_in_reply(holder: dict[str, Any]) -> None:
    """An object of a reply has a key of the provider's own."""
    holder["x_vendor"] = {"cost": 1}


@vice(_in_replies)
def null_key_of_a_vendor_in_reply(holder: dict[str, Any]) -> None:
    """An object of a reply has a key of the provider's own that is null."""
    holder["x_vendor"] = None


@vice(targets.requests)
def parameter_of_a_vendor(body: dict[str, Any]) -> None:
    """A request has a parameter that one provider knows."""
    body["x_vendor"] = True


@vice(targets.requests)
def usual_parameters(body: dict[str, Any]) -> None:
    """A request sets the parameters that all providers know."""
    body.update(temperature=0.2, top_p=1, n=1, stop=["."], seed=7, max_tokens=64, user="ada")


@vice(targets.messages("user", "system", "tool"))
def content_in_parts(message: Slot) -> None:
    """Text is sent as a text part."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]


@vice(targets.messages("user", "system", "assistant"))
def message_with_name(message: Slot) -> None:
    """A message names who speaks."""
    message.value["name"] = "ada"


@vice(targets.tool_turns)
def nothing_said_is_null(turn: Slot) -> None:
    """The content beside calls is null."""
    turn.value["content"] = None


@vice(targets.tool_turns)
def nothing_said_is_left_out(turn: Slot) -> None:
    """There is no content beside calls."""
    turn.value.pop("content", None)


@vice(targets.messages("tool"))
def result_without_output(result: Slot) -> None:
    """A tool gave nothing back."""
    result.value["content"] = ""


@vice(targets.chunks)
def comment_between_events(chunk: Slot) -> None:
    """A comment keeps the connection alive."""
    chunk.holder.insert(chunk.key, ": ping\n\n")


@vice(targets.streams)
def lines_end_as_in_http(record: Record) -> None:
    """The lines of a stream end with CR and LF, and no space follows the colon."""
    events = record["response"]
    data = [orjson.dumps(each).decode() if isinstance(each, dict) else "[DONE]" for each in events]
    record["response"] = [f"data:{each}\r\n\r\n" for each in data]


@vice(targets.streams)
def usage_null_meanwhile(record: Record) -> None:
    """All chunks but the last have null for usage."""
    for event in record["response"]:
        if isinstance(event, dict):
            event.setdefault("usage", None)


@vice(streaming(targets.replies))
def usage_with_finish_reason(reply: Reply) -> None:
    """The token count comes in the chunk of the finish reason."""
    events, at = reply.record["response"], _ending(reply)
    if isinstance(events[at + 1], dict):
        events[at]["usage"] = events.pop(at + 1)["usage"]


@vice(streaming(targets.replies))
def finish_reason_with_the_last_piece(reply: Reply) -> None:
    """The finish reason comes in the chunk of the last piece."""
    events, at = reply.record["response"], _ending(reply)
    if not reply.ending["delta"]:
        events[at - 1]["choices"][0]["finish_reason"] = reply.ending["finish_reason"]
        del events[at]


@vice(streaming(targets.replies))
def role_in_each_delta(reply: Reply) -> None:
    """Every delta names the role."""
    for piece in reply.pieces:
        piece["role"] = "assistant"


@vice(targets.fragmented_calls)
def call_in_one_fragment(call: Call) -> None:
    """The first fragment of a call brings all of its arguments."""
    arguments = call.arguments
    call.say("")
    call.first["function"]["arguments"] = arguments


@vice(targets.replies)
def null_keys_in_message(reply: Reply) -> None:
    """A message has the keys that it has no use for, as null."""
    reply.pieces[0].update(refusal=None, audio=None, function_call=None, annotations=[])


@vice(targets.speaking)
def calls_null(reply: Reply) -> None:
    """A reply without calls has null for them."""
    reply.pieces[0]["tool_calls"] = None


@vice(targets.reply_calls)
def arguments_with_white_space(call: Call) -> None:
    """The arguments of a call have white space around them."""
    call.say(f" {call.arguments}\n")


@vice(targets.errors)
def error_with_more(record: Record) -> None:
    """An error says more than it must."""
    record["response"]["request_id"] = "req_1"
    record["response"]["error"]["hint"] = "Look at the key."


@vice(targets.errors)
def error_without_code(record: Record) -> None:
    """An error has no code."""
    del record["response"]["error"]["code"]


@vice(targets.answers)
def more_headers(record: Record) -> None:
    """A reply has headers of the provider's own."""
    record["headers"]["x-request-id"] = "req_1"


def _last(*roles: str) -> Find:
    """Return a finder of the messages of these roles in the last request."""
    return lambda records: targets.messages(*roles)(records[-1:])


@vice(_last("user", "system", "tool"), sessions=True)
def content_in_parts_from_now_on(message: Slot) -> None:
    """Text that was sent as a string is sent as a text part in a later request."""
    message.value["content"] = [{"type": "text", "text": message.value["content"]}]


@vice(_last("assistant"), sessions=True)
def nothing_said_otherwise(turn: Slot) -> None:
    """A reply with calls that said nothing comes back with another word for nothing."""
    if not turn.value.get("content"):
        turn.value["content"] = None if turn.value.get("content") == "" else ""


@vice(lambda records: records[-1:], sessions=True)
def more_tools_from_now_on(record: Record) -> None:
    """A later request declares one tool more."""
    tool = {"type": "function", "function": {"name": "get_rain", "parameters": {"type": "object"}}}
    record["request"].setdefault("tools", []).append(tool)


@vice(lambda records: records[-1:], sessions=True)
def another_model_from_now_on(record: Record) -> None:
    """A later request asks another model."""
    record["request"]["model"] = "example-model-2"


@vice(lambda records: records[-1:], sessions=True)
def asked_more_at_once(record: Record) -> None:
    """The user says one thing more at the end."""
    record["request"]["messages"].append({"role": "user", "content": "And in Rome?"})


@vice(lambda records: records, sessions=True)
def reply_not_kept(record: Record) -> None:
    """What answered one of the requests was not kept."""
    for key in ("response", "status", "headers"):
        record[key] = {} if key == "headers" else None
