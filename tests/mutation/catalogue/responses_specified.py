"""Faults of servers and clients that say that they follow Open Responses."""

from functools import partial
from typing import Any, Final

from tests.mutation import definition
from tests.mutation.bases import Record
from tests.mutation.native_targets import events, replies
from tests.mutation.targets import Slot, keys, plain, requests, streams

FOLLOWED: Final = {"responses.open-responses": True}
mutation = partial(definition.mutation, wire="responses", claims=FOLLOWED)


@mutation(keys(replies, "completed_at", "background", "max_tool_calls", "top_logprobs"), "responses/reply-as-specified")
def specified_member_dropped(slot: Slot) -> None:
    """A response lacks a member that the specification requires and OpenAI's SDK does not."""
    slot.drop()


@mutation(events("response.in_progress"), "responses/event-as-specified")
def snapshot_without_a_member(event: Slot) -> None:
    """The snapshot of a response in an event lacks a member."""
    del event.value["response"]["truncation"]


@mutation(streams, "responses/stream-ends-with-done")
def end_marker_dropped(record: Record) -> None:
    """A stream ends without `[DONE]`."""
    record["response"].pop()


@mutation(requests, "responses/request-as-specified")
def token_limit_below_the_least(body: dict[str, Any]) -> None:
    """A request limits its reply to fewer tokens than the specification allows."""
    body["max_output_tokens"] = 5


@mutation(plain, "responses/error-as-specified")
def error_as_detail(record: Record) -> None:
    """An error is that of a web framework."""
    record |= {"status": 400, "response": {"detail": "No."}}
