"""Faults of hosts on the wire of Messages: in replies and in the events of streams."""

from functools import partial
from typing import Any

import orjson

from tests.mutation import definition
from tests.mutation.bases import Record
from tests.mutation.definition import REJECTED
from tests.mutation.native_targets import events, replies, reply_blocks, where
from tests.mutation.targets import Slot, keys, plain, streams

mutation = partial(definition.mutation, wire="messages")


@mutation(
    keys(replies, "id", "type", "role", "content", "model", "stop_reason", "usage", "usage/input_tokens"),
    "native/reply-shape",
)
def native_reply_key_dropped(slot: Slot) -> None:
    """A reply lacks a required key."""
    slot.drop()


@mutation(
    keys(replies, "id", "type", "role", "content", "stop_reason", "usage"),
    "native/reply-shape",
    related=("response/finish-reason-matches-tool-calls", "response/message-not-empty"),
)
def native_reply_key_retyped(slot: Slot) -> None:
    """A key of a reply has a value of the wrong type."""
    slot.retype()


@mutation(
    keys(reply_blocks("tool_use", "text", "thinking"), "id", "name", "input", "text", "thinking"),
    "native/reply-shape",
    related=("tool-calls/arguments-fit-schema", "response/message-not-empty"),
)
def reply_block_key_dropped(slot: Slot) -> None:
    """A block of a reply lacks a required key."""
    slot.drop()


@mutation(plain, "error/body-is-object")
def native_error_as_text(record: Record) -> None:
    """A refusal is a sentence, and no object."""
    record["status"] = 400
    record["response"] = "messages: at least one message is required"


@mutation(reply_blocks("tool_use"), "response/finish-reason-matches-tool-calls")
def reply_that_calls_and_ends(block: Slot) -> None:
    """A reply with calls says that the turn has ended."""
    block.record["response"]["stop_reason"] = "end_turn"


@mutation(reply_blocks("text"), "response/finish-reason-matches-tool-calls")
def reply_that_waits_without_a_call(block: Slot) -> None:
    """A reply without calls says that it waits for results."""
    block.record["response"]["stop_reason"] = "tool_use"


@mutation(
    where(reply_blocks("tool_use"), lambda block: block.holder[block.key - 1]["type"] == "tool_use"),
    "tool-calls/id-unique-in-reply",
)
def ids_shared_by_reply_blocks(block: Slot) -> None:
    """Two calls of a reply have the same id."""
    block.value["id"] = block.holder[block.key - 1]["id"]


@mutation(reply_blocks("tool_use"), "tool-calls/name-declared")
def call_of_another_tool(block: Slot) -> None:
    """A reply calls a tool that was not declared."""
    block.value["name"] = "get_time"


@mutation(replies, "error/no-error-in-success")
def error_as_a_reply(reply: dict[str, Any]) -> None:
    """An error comes with status 200."""
    reply.clear()
    reply.update({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


_BROKEN = (
    "native/stream-in-order",
    "native/reply-shape",
    "response/finish-reason-matches-tool-calls",
    "tool-calls/arguments-are-an-object",
)
"""What a client assembles from an event that it cannot read breaks these."""

_STRUCTURE = ("message_start", "content_block_start", "content_block_stop", "message_delta")


@mutation(
    events(*_STRUCTURE),
    "native/stream-in-order",
    related=("native/reply-shape", "response/finish-reason-matches-tool-calls"),
)
def event_left_out(event: Slot) -> None:
    """A stream lacks the event that begins or ends something."""
    event.drop()


@mutation(events(*_STRUCTURE), "native/stream-in-order", related=("tool-calls/arguments-are-an-object",))
def events_swapped(event: Slot) -> None:
    """An event of a stream comes one place too late."""
    holder, at = event.holder, event.key
    holder[at], holder[at + 1] = holder[at + 1], holder[at]


@mutation(events(*_STRUCTURE[:-1]), "native/stream-in-order")
def event_twice(event: Slot) -> None:
    """An event of a stream comes twice."""
    event.holder.insert(event.key, event.value)


@mutation(where(events(), lambda event: event.key > 0), "native/stream-complete")
def native_stream_cut(event: Slot) -> None:
    """A stream ends too early."""
    del event.holder[event.key :]


@mutation(events("message_stop"), "native/stream-in-order")
def event_behind_the_end(event: Slot) -> None:
    """A delta comes when the message is over."""
    event.holder.append({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "x"}})


@mutation(streams, "native/stream-in-order")
def block_index_jumps(record: Record) -> None:
    """The blocks of a stream are not numbered from 0 without a gap."""
    for event in record["response"]:
        event.update({"index": event["index"] + 1} if event.get("index") else {})


@mutation(streams, "native/stream-in-order")
def blocks_overlap(record: Record) -> None:
    """The blocks of a stream all end behind the last one."""
    listed = record["response"]
    stops = [event for event in listed if event["type"] == "content_block_stop"]
    listed[:] = [event for event in listed if event not in stops]
    listed[-2:-2] = stops


@mutation(
    keys(events("content_block_start", "content_block_delta", "content_block_stop"), "index", "delta", "content_block"),
    "native/event-shape",
    related=_BROKEN,
)
def event_key_dropped(slot: Slot) -> None:
    """An event of a stream lacks a required key."""
    slot.drop()


@mutation(
    keys(
        events("content_block_start", "content_block_delta", "content_block_stop"),
        "index", "delta/text", "delta/thinking", "delta/partial_json", "delta/signature", "content_block/type",
    ),
    "native/event-shape",
    related=_BROKEN,
)  # fmt: skip
def event_key_retyped(slot: Slot) -> None:
    """A key of an event has a value of the wrong type."""
    slot.retype()


@mutation(
    where(events("content_block_delta"), lambda event: "partial_json" in event.value["delta"]),
    "tool-calls/arguments-are-an-object",
)
def arguments_lost(event: Slot) -> None:
    """A stream lacks a piece of the arguments of a call."""
    event.drop()


@mutation(events(), "error/no-error-in-stream")
def error_in_native_stream(event: Slot) -> None:
    """A stream breaks off with an error."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    event.holder[event.key :] = [error]


@mutation(
    reply_blocks("text"),
    "messages/reply-text-not-empty",
    related=("response/message-not-empty",),
    claims={"content.empty-text-part": REJECTED},
)
def text_block_of_reply_empty(block: Slot) -> None:
    """A text block of a reply is empty, at a provider that rejects empty text."""
    block.value["text"] = ""


@mutation(reply_blocks("thinking"), "messages/reply-thinking-signed", claims={"signature.omitted": REJECTED})
def signature_of_thinking_lost(block: Slot) -> None:
    """A thinking block of a reply has no signature, at a provider that rejects thinking without one."""
    del block.value["signature"]


@mutation(streams, "native/events-named")
def events_without_names(record: Record) -> None:
    """A stream has the data of its events, and not their names."""
    record["headers"] = {"content-type": "text/event-stream"}
    record["response"] = "".join([f"data: {orjson.dumps(event).decode()}\n\n" for event in record["response"]])


@mutation(events(*_STRUCTURE))
def ping_in_stream(event: Slot) -> None:
    """A stream holds a ping."""
    event.holder.insert(event.key + 1, {"type": "ping"})


@mutation(replies)
def reply_with_further_keys(reply: dict[str, Any]) -> None:
    """A reply has keys that this wire gained later."""
    reply |= {"container": None, "context_management": {"applied_edits": []}}
