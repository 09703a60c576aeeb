"""Vices of single values: a key that is demanded is not there, a value is of the wrong type."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any, Final

from conformance.harness.mutate import places
from conformance.harness.mutate.places import Slot, keys
from conformance.harness.mutate.vice import vice

_WRONG: Final[dict[type, Any]] = {str: 7, int: "7", bool: "yes", list: {}, dict: [], type(None): 7}
"""For each type of JSON a value that no schema here takes in its place."""


def _drop(slot: Slot) -> None:
    slot.drop()


def _retype(slot: Slot) -> None:
    slot.put(_WRONG[type(slot.value)])


def _bodies(records: Any) -> Any:
    return (record["response"] for record in places.plain(records))


def _choices(records: Any) -> Any:
    return (choice for body in _bodies(records) for choice in body["choices"])


def _chunk_choices(records: Any) -> Any:
    return (choice for chunk in places.inner_chunks(records) for choice in chunk.value["choices"])


def _plain_calls(records: Any) -> Any:
    return (call for choice in _choices(records) for call in choice["message"].get("tool_calls", ()))


@vice(keys(places.requests, "model", "messages"), "shape/request")
def request_key_dropped(slot: Slot) -> None:
    """The body of a request lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(places.requests, "model", "messages", "tools", "stream", "stream_options", "stream_options/include_usage"),
    "shape/request",
    kin=("http/streams-when-asked", "tool-calls/name-declared"),
)
def request_key_retyped(slot: Slot) -> None:
    """A key of a request's body has a value of the wrong type."""
    _retype(slot)


@vice(
    keys(places.messages(), "role"),
    "shape/message",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
        "transcript/results-directly-follow",
    ),
)
def message_role_dropped(slot: Slot) -> None:
    """A message of a request has no role."""
    _drop(slot)


@vice(keys(places.messages("system", "user", "tool"), "content"), "shape/message")
def message_content_dropped(slot: Slot) -> None:
    """A message that must have content has none."""
    _drop(slot)


@vice(
    keys(places.messages("tool"), "tool_call_id"),
    "shape/message",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def result_id_dropped(slot: Slot) -> None:
    """A tool message does not say which call it answers."""
    _drop(slot)


@vice(
    keys(places.messages(), "role", "content", "tool_call_id", "reasoning_content", "reasoning_details", "tool_calls"),
    "shape/message",
    kin=(
        "reasoning/dropped-on-plain-turns",
        "request/plain-turn-has-content",
        "transcript/calls-answered",
        "transcript/result-answers-call",
        "transcript/results-directly-follow",
    ),
)
def message_key_retyped(slot: Slot) -> None:
    """A key of a message has a value of the wrong type."""
    _retype(slot)


@vice(keys(places.messages(), "content"), "shape/message")
def message_content_number_in_list(slot: Slot) -> None:
    """The content of a message is a list that holds something else than parts."""
    slot.put([slot.value])


@vice(
    keys(places.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def history_call_key_dropped(slot: Slot) -> None:
    """A tool call sent back lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(places.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def history_call_key_retyped(slot: Slot) -> None:
    """A key of a tool call sent back has a value of the wrong type."""
    _retype(slot)


@vice(
    keys(places.definitions, "type", "function", "function/name"),
    "shape/tool-definition",
    kin=("tool-calls/name-declared",),
)
def definition_key_dropped(slot: Slot) -> None:
    """A tool definition lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(places.definitions, "type", "function", "function/name", "function/description", "function/parameters"),
    "shape/tool-definition",
    kin=("tool-calls/name-declared",),
)
def definition_key_retyped(slot: Slot) -> None:
    """A key of a tool definition has a value of the wrong type."""
    _retype(slot)


@vice(keys(_bodies, "id", "object", "created", "model", "choices"), "shape/response")
def response_key_dropped(slot: Slot) -> None:
    """The body of a reply lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(
        _bodies, "id", "object", "created", "model", "choices", "usage", "usage/prompt_tokens",
        "usage/completion_tokens", "usage/total_tokens",
    ),
    "shape/response",
)  # fmt: skip
def response_key_retyped(slot: Slot) -> None:
    """A key of a reply's body has a value of the wrong type."""
    _retype(slot)


@vice(keys(_bodies, "object"), "shape/response")
def response_object_of_chunk(slot: Slot) -> None:
    """A whole reply says that it is a chunk."""
    slot.put("chat.completion.chunk")


@vice(keys(_choices, "index", "message", "finish_reason", "message/role"), "shape/choice", kin=("shape/response",))
def choice_key_dropped(slot: Slot) -> None:
    """A choice lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(_choices, "index", "message", "finish_reason", "message/role", "message/content", "message/tool_calls"),
    "shape/choice",
    kin=(
        "response/finish-reason-says-tool-calls",
        "shape/response",
    ),
)
def choice_key_retyped(slot: Slot) -> None:
    """A key of a choice has a value of the wrong type."""
    _retype(slot)


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
    _drop(slot)


@vice(
    keys(_plain_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/choice",
)
def reply_call_key_retyped(slot: Slot) -> None:
    """A key of a tool call of a whole reply has a value of the wrong type."""
    _retype(slot)


@vice(keys(places.inner_chunks, "id", "object", "created", "model"), "shape/chunk")
def chunk_key_dropped(slot: Slot) -> None:
    """A chunk lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(places.inner_chunks, "id", "object", "created", "model", "choices"),
    "shape/chunk",
    kin=("stream/chunk-id-constant", "response/message-says-something"),
)
def chunk_key_retyped(slot: Slot) -> None:
    """A key of a chunk has a value of the wrong type."""
    _retype(slot)


@vice(keys(places.chunks, "object"), "shape/chunk")
def chunk_object_of_reply(slot: Slot) -> None:
    """A chunk says that it is a whole reply."""
    slot.put("chat.completion")


@vice(keys(_chunk_choices, "index", "delta"), "shape/chunk", kin=("response/message-says-something",))
def chunk_choice_key_dropped(slot: Slot) -> None:
    """A choice of a chunk lacks a key that it must have."""
    _drop(slot)


@vice(
    keys(_chunk_choices, "index", "delta", "delta/content", "delta/reasoning_content"),
    "shape/chunk",
    kin=("response/message-says-something",),
)
def chunk_choice_key_retyped(slot: Slot) -> None:
    """A key of a chunk's choice has a value of the wrong type."""
    _retype(slot)
