"""Faults in single values of replies and chunks: a required key is missing, or has a value of the wrong type."""

from typing import Any

from tests.mutation import targets
from tests.mutation.definition import mutation
from tests.mutation.targets import Slot, keys


def _bodies(records: Any) -> Any:
    return (record["response"] for record in targets.plain(records))


def _choices(records: Any) -> Any:
    return (choice for body in _bodies(records) for choice in body["choices"])


def _chunk_choices(records: Any) -> Any:
    return (choice for chunk in targets.inner_chunks(records) for choice in chunk.value["choices"])


def _plain_calls(records: Any) -> Any:
    return (call for choice in _choices(records) for call in choice["message"].get("tool_calls", ()))


@mutation(keys(_bodies, "id", "object", "created", "model", "choices"), "shape/response")
def response_key_dropped(slot: Slot) -> None:
    """The body of a reply lacks a required key."""
    slot.drop()


@mutation(
    keys(
        _bodies, "id", "object", "created", "model", "choices", "usage", "usage/prompt_tokens",
        "usage/completion_tokens", "usage/total_tokens",
    ),
    "shape/response",
)  # fmt: skip
def response_key_retyped(slot: Slot) -> None:
    """A key of a reply's body has a value of the wrong type."""
    slot.retype()


@mutation(keys(_bodies, "object"), "shape/response")
def response_object_of_chunk(slot: Slot) -> None:
    """The object type of a plain reply is that of a chunk."""
    slot.put("chat.completion.chunk")


@mutation(
    keys(_choices, "index", "message", "finish_reason", "message/role"), "shape/choice", related=("shape/response",)
)
def choice_key_dropped(slot: Slot) -> None:
    """A choice lacks a required key."""
    slot.drop()


@mutation(
    keys(_choices, "index", "message", "finish_reason", "message/role", "message/content", "message/tool_calls"),
    "shape/choice",
    related=(
        "response/answer-beside-reasoning",
        "response/finish-reason-matches-tool-calls",
        "response/message-not-empty",
        "shape/response",
    ),
)
def choice_key_retyped(slot: Slot) -> None:
    """A key of a choice has a value of the wrong type."""
    slot.retype()


@mutation(keys(_choices, "finish_reason"), "shape/choice")
def finish_reason_null(slot: Slot) -> None:
    """The finish reason of a plain reply is null."""
    slot.put(None)


@mutation(
    keys(_plain_calls, "id", "function", "function/name", "function/arguments"),
    "shape/choice",
)
def reply_call_key_dropped(slot: Slot) -> None:
    """A tool call of a plain reply lacks a required key."""
    slot.drop()


@mutation(
    keys(_plain_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/choice",
)
def reply_call_key_retyped(slot: Slot) -> None:
    """A key of a tool call of a plain reply has a value of the wrong type."""
    slot.retype()


@mutation(keys(targets.inner_chunks, "id", "object", "created", "model"), "shape/chunk")
def chunk_key_dropped(slot: Slot) -> None:
    """A chunk lacks a required key."""
    slot.drop()


@mutation(
    keys(targets.inner_chunks, "id", "object", "created", "model", "choices"),
    "shape/chunk",
    related=("stream/chunk-id-constant", "response/message-not-empty", "response/answer-beside-reasoning"),
)
def chunk_key_retyped(slot: Slot) -> None:
    """A key of a chunk has a value of the wrong type."""
    slot.retype()


@mutation(keys(targets.chunks, "object"), "shape/chunk")
def chunk_object_of_reply(slot: Slot) -> None:
    """The object type of a chunk is that of a plain reply."""
    slot.put("chat.completion")


@mutation(
    keys(_chunk_choices, "index", "delta"),
    "shape/chunk",
    related=("response/message-not-empty", "response/answer-beside-reasoning"),
)
def chunk_choice_key_dropped(slot: Slot) -> None:
    """A choice of a chunk lacks a required key."""
    slot.drop()


@mutation(
    keys(_chunk_choices, "index", "delta", "delta/content", "delta/reasoning_content"),
    "shape/chunk",
    related=("response/message-not-empty", "response/answer-beside-reasoning"),
)
def chunk_choice_key_retyped(slot: Slot) -> None:
    """A key of a chunk's choice has a value of the wrong type."""
    slot.retype()


@mutation(keys(_bodies, "id", "object", "created", "model", "choices"), "shape/response")
def response_key_null(slot: Slot) -> None:
    """A required key of a reply is null."""
    slot.put(None)


@mutation(keys(_plain_calls, "id", "function", "function/name", "function/arguments"), "shape/choice")
def reply_call_key_null(slot: Slot) -> None:
    """A key of a tool call of a plain reply is null."""
    slot.put(None)


@mutation(keys(targets.usages, "prompt_tokens", "completion_tokens", "total_tokens"), "shape/response", "shape/chunk")
def usage_key_dropped(slot: Slot) -> None:
    """A token count lacks one of its three counts."""
    slot.drop()
