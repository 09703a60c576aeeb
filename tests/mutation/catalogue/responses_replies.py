"""Faults of hosts on the wire of Responses: in replies and in the events of streams."""

from functools import partial
from typing import Any, Final

from tests.mutation import definition
from tests.mutation.bases import Record
from tests.mutation.native_targets import events, output_items, replies, where
from tests.mutation.targets import Slot, keys, streams

mutation = partial(definition.mutation, wire="responses")

_STRUCTURE: Final = (
    "response.created", "response.output_item.added", "response.content_part.added", "response.content_part.done",
    "response.reasoning_summary_part.added", "response.reasoning_summary_part.done", "response.output_item.done",
    "response.output_text.done", "response.function_call_arguments.done",
)  # fmt: skip
_DELTAS: Final = (
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "response.reasoning_summary_text.delta",
)
_BROKEN: Final = (
    "native/stream-in-order",
    "native/stream-complete",
    "native/reply-shape",
    "responses/deltas-add-up",
    "responses/item-id-constant",
)
"""What a client assembles from an event that it cannot read breaks these."""


def _number(listed: list[Any]) -> None:
    """Number the events of a stream as they stand."""
    for number, event in enumerate(_named(listed)):
        event["sequence_number"] = number


def _named(listed: list[Any]) -> list[dict[str, Any]]:
    """Return the events of a stream, without the text that marks its end."""
    return [event for event in listed if isinstance(event, dict)]


@mutation(
    keys(replies, "id", "object", "output", "status"), "native/reply-shape", related=("response/message-not-empty",)
)
def responses_reply_key_dropped(slot: Slot) -> None:
    """A reply lacks a required key."""
    slot.drop()


@mutation(keys(replies, "id", "output", "usage"), "native/reply-shape", related=("response/message-not-empty",))
def responses_reply_key_retyped(slot: Slot) -> None:
    """A key of a reply has a value of the wrong type."""
    slot.retype()


@mutation(
    keys(output_items("function_call", "message", "reasoning"), "call_id", "name", "arguments", "content"),
    "native/reply-shape",
    related=("response/answer-beside-reasoning",),
)
def output_item_key_dropped(slot: Slot) -> None:
    """An item of a reply lacks a required key."""
    slot.drop()


@mutation(
    where(output_items("function_call"), lambda item: item.holder[item.key - 1]["type"] == "function_call"),
    "tool-calls/id-unique-in-reply",
)
def ids_shared_by_items(item: Slot) -> None:
    """Two calls of a reply have the same id."""
    item.value["call_id"] = item.holder[item.key - 1]["call_id"]


@mutation(output_items("function_call"), "tool-calls/arguments-are-an-object")
def arguments_of_item_broken(item: Slot) -> None:
    """The arguments of a call are not JSON."""
    item.value["arguments"] = item.value["arguments"][:-2]


@mutation(output_items("function_call"), "tool-calls/name-declared")
def item_of_another_tool(item: Slot) -> None:
    """A reply calls a tool that was not declared."""
    item.value["name"] = "get_time"


@mutation(replies, "usage/adds-up")
def total_of_responses_wrong(reply: dict[str, Any]) -> None:
    """The total of the tokens is not their sum."""
    reply["usage"]["total_tokens"] += 1


@mutation(
    events(*_STRUCTURE),
    "native/stream-in-order",
    related=("responses/sequence-number-rises", "responses/items-one-after-the-other"),
)
def event_of_item_left_out(event: Slot) -> None:
    """A stream lacks the event that begins or ends something."""
    event.drop()


@mutation(
    events(*_STRUCTURE),
    "native/stream-in-order",
    related=("responses/deltas-add-up", "responses/items-one-after-the-other"),
)
def event_of_item_late(event: Slot) -> None:
    """An event of a stream comes one place too late, and the numbers stay in order."""
    holder, at = event.holder, event.key
    holder[at], holder[at + 1] = holder[at + 1], holder[at]
    _number(holder)


@mutation(where(events(), lambda event: event.key > 0), "native/stream-complete")
def responses_stream_cut(event: Slot) -> None:
    """A stream ends too early."""
    del event.holder[event.key :]


@mutation(events("response.completed"), "native/stream-in-order")
def event_behind_completed(event: Slot) -> None:
    """An event comes when the response is completed."""
    late = {"type": "response.in_progress", "sequence_number": 99, "response": event.value["response"]}
    event.holder.insert(event.key + 1, late)


@mutation(where(events(), lambda event: event.key > 0), "responses/sequence-number-rises")
def sequence_number_twice(event: Slot) -> None:
    """Two events have the same number."""
    event.value["sequence_number"] = event.holder[event.key - 1]["sequence_number"]


@mutation(where(events(), lambda event: event.key > 0), "responses/sequence-number-rises")
def sequence_number_left_out(event: Slot) -> None:
    """An event has no number."""
    del event.value["sequence_number"]


@mutation(
    events(*_DELTAS),
    "responses/deltas-add-up",
    related=("responses/sequence-number-rises",),
)
def delta_left_out(event: Slot) -> None:
    """A stream lacks a piece of a text."""
    event.drop()


@mutation(events(*_DELTAS), "responses/deltas-add-up", related=("stream/deltas-not-cumulative",))
def delta_twice(event: Slot) -> None:
    """A piece of a text comes twice."""
    event.holder.insert(event.key, dict(event.value))
    _number(event.holder)


@mutation(events("response.completed"), "responses/deltas-add-up")
def completed_without_an_item(event: Slot) -> None:
    """The response at the end lacks an item of the stream."""
    event.value["response"]["output"].pop()


def _says_something(event: Slot) -> bool:
    return any(item["type"] == "message" for item in event.value["response"]["output"])


@mutation(where(events("response.completed"), _says_something), "responses/deltas-add-up")
def completed_with_another_text(event: Slot) -> None:
    """The response at the end has another text than its deltas."""
    message = next(item for item in event.value["response"]["output"] if item["type"] == "message")
    message["content"][0]["text"] = "Let me see."


@mutation(
    where(events(), lambda event: "item_id" in event.value),
    "responses/item-id-constant",
)
def item_id_changes(event: Slot) -> None:
    """An event names its item by another id."""
    event.value["item_id"] = "item_other"


@mutation(events("response.output_item.done"), "responses/item-id-constant", related=("responses/deltas-add-up",))
def item_done_under_another_id(event: Slot) -> None:
    """An item ends under another id than it began."""
    event.value["item"] = {**event.value["item"], "id": "item_other"}


@mutation(
    where(events(), lambda event: "content_index" in event.value or "summary_index" in event.value),
    "responses/indexes-contiguous",
    "native/stream-in-order",
    related=("responses/deltas-add-up",),
)
def part_index_jumps(event: Slot) -> None:
    """An event names a part that there is not."""
    name = "content_index" if "content_index" in event.value else "summary_index"
    event.value[name] += 3


@mutation(streams, "responses/indexes-contiguous")
def output_indexes_jump(record: Record) -> None:
    """The items of a stream are numbered with a gap."""
    for event in _named(record["response"]):
        event.update({"output_index": event["output_index"] + 1} if event.get("output_index") else {})


@mutation(streams, "responses/items-one-after-the-other")
def items_overlap(record: Record) -> None:
    """An item begins before the one before it is done."""
    listed = record["response"]
    starts = [at for at, event in enumerate(_named(listed)) if event["type"] == "response.output_item.added"]
    listed.insert(starts[1] - 1, listed.pop(starts[1]))
    _number(listed)


@mutation(
    keys(events(), "item", "part", "response", "delta", "text", "arguments"), "native/event-shape", related=_BROKEN
)
def responses_event_key_dropped(slot: Slot) -> None:
    """An event of a stream lacks a required key."""
    slot.drop()


@mutation(
    keys(events(), "item", "part", "response", "delta", "text", "arguments"), "native/event-shape", related=_BROKEN
)
def responses_event_key_retyped(slot: Slot) -> None:
    """A key of an event has a value of the wrong type."""
    slot.retype()


@mutation(where(events(), lambda event: event.key > 0), "responses/sequence-number-rises")
def sequence_number_jumps(event: Slot) -> None:
    """The numbers of events have a gap."""
    for each in _named(event.holder[event.key :]):
        each["sequence_number"] += 7


@mutation(keys(output_items("function_call", "message"), "id", "status"), "responses/items-complete")
def identity_of_item_lost(slot: Slot) -> None:
    """An item of a reply has no id or no status."""
    slot.drop()


@mutation(events("response.completed"), "responses/response-id-constant")
def completed_under_another_id(event: Slot) -> None:
    """A response ends under another id than it began."""
    event.value["response"] = {**event.value["response"], "id": "resp_other"}


@mutation(keys(replies, "usage/input_tokens_details", "usage/output_tokens_details"), "responses/usage-details-counted")
def details_of_usage_null(slot: Slot) -> None:
    """A counter in the details of the usage is null."""
    slot.value.update(dict.fromkeys(slot.value))


@mutation(events("response.in_progress"))
def event_of_tomorrow(event: Slot) -> None:
    """A stream holds an event that this wire gained later."""
    event.value["type"] = "response.of_tomorrow"
