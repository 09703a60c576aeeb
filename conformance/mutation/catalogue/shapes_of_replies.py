"""Vices of single values in replies and chunks: a demanded key is not there, or of the wrong type."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

from conformance.mutation import targets
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot, keys


def _bodies(records: Any) -> Any:
    return (record["response"] for record in targets.plain(records))


def _choices(records: Any) -> Any:
    return (choice for body in _bodies(records) for choice in body["choices"])


def _chunk_choices(records: Any) -> Any:
    return (choice for chunk in targets.inner_chunks(records) for choice in chunk.value["choices"])


def _plain_calls(records: Any) -> Any:
    return (call for choice in _choices(records) for call in choice["message"].get("tool_calls", ()))


@vice(keys(_bodies, "id", "object", "created", "model", "choices"), "shape/response")
def response_key_dropped(slot: Slot) -> None:
    """The body of a reply lacks a key that it must have."""
    slot.drop()


@vice(
    keys(
        _bodies, "id", "object", "created", "model", "choices", "usage", "usage/prompt_tokens",
        "usage/completion_tokens", "usage/total_tokens",
    ),
    "shape/response",
)  # fmt: skip
def response_key_retyped(slot: Slot) -> None:
    """A key of a reply's body has a value of the wrong type."""
    slot.retype()


@vice(keys(_bodies, "object"), "shape/response")
def response_object_of_chunk(slot: Slot) -> None:
    """A whole reply says that it is a chunk."""
    slot.put("chat.completion.chunk")


@vice(keys(_choices, "index", "message", "finish_reason", "message/role"), "shape/choice", kin=("shape/response",))
def choice_key_dropped(slot: Slot) -> None:
    """A choice lacks a key that it must have."""
    slot.drop()


@vice(
    keys(_choices, "index", "message", "finish_reason", "message/role", "message/content", "message/tool_calls"),
    "shape/choice",
    kin=(
        "response/finish-reason-matches-tool-calls",
        "shape/response",
    ),
)
def choice_key_retyped(slot: Slot) -> None:
    """A key of a choice has a value of the wrong type."""
    slot.retype()


@vice(keys(_choices, "finish_reason"), "shape/choice")
def finish_reason_null(slot: Slot) -> None:
    """A whole reply does not say why it ended."""
    slot.put(None)


@vice(
    keys(_plain_calls, "id", "function", "function/name", "function/arguments"),
    "shape/choice",
)
def reply_call_key_dropped(slot: Slot) -> None:
    """A tool call of a whole reply lacks a key that it must have."""
    slot.drop()


@vice(
    keys(_plain_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/choice",
)
def reply_call_key_retyped(slot: Slot) -> None:
    """A key of a tool call of a whole reply has a value of the wrong type."""
    slot.retype()


@vice(keys(targets.inner_chunks, "id", "object", "created", "model"), "shape/chunk")
def chunk_key_dropped(slot: Slot) -> None:
    """A chunk lacks a key that it must have."""
    slot.drop()


@vice(
    keys(targets.inner_chunks, "id", "object", "created", "model", "choices"),
    "shape/chunk",
    kin=("stream/chunk-id-constant", "response/message-not-empty"),
)
def chunk_key_retyped(slot: Slot) -> None:
    """A key of a chunk has a value of the wrong type."""
    slot.retype()


@vice(keys(targets.chunks, "object"), "shape/chunk")
def chunk_object_of_reply(slot: Slot) -> None:
    """A chunk says that it is a whole reply."""
    slot.put("chat.completion")


@vice(keys(_chunk_choices, "index", "delta"), "shape/chunk", kin=("response/message-not-empty",))
def chunk_choice_key_dropped(slot: Slot) -> None:
    """A choice of a chunk lacks a key that it must have."""
    slot.drop()


@vice(
    keys(_chunk_choices, "index", "delta", "delta/content", "delta/reasoning_content"),
    "shape/chunk",
    kin=("response/message-not-empty",),
)
def chunk_choice_key_retyped(slot: Slot) -> None:
    """A key of a chunk's choice has a value of the wrong type."""
    slot.retype()


@vice(keys(_bodies, "id", "object", "created", "model", "choices"), "shape/response")
def response_key_null(slot: Slot) -> None:
    """A key that a reply must have is null."""
    slot.put(None)


@vice(keys(_plain_calls, "id", "function", "function/name", "function/arguments"), "shape/choice")
def reply_call_key_null(slot: Slot) -> None:
    """A key of a tool call of a whole reply is null."""
    slot.put(None)


@vice(keys(targets.usages, "prompt_tokens", "completion_tokens", "total_tokens"), "shape/response", "shape/chunk")
def usage_key_dropped(slot: Slot) -> None:
    """A token count lacks one of its three counts."""
    slot.drop()
