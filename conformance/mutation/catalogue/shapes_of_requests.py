"""Vices of single values in requests: a demanded key is not there, or of the wrong type."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from conformance.mutation import targets
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot, keys


@vice(keys(targets.requests, "model", "messages"), "shape/request")
def request_key_dropped(slot: Slot) -> None:
    """The body of a request lacks a key that it must have."""
    slot.drop()


@vice(
    keys(targets.requests, "model", "messages", "tools", "stream", "stream_options", "stream_options/include_usage"),
    "shape/request",
    kin=("http/streams-when-asked", "tool-calls/name-declared"),
)
def request_key_retyped(slot: Slot) -> None:
    """A key of a request's body has a value of the wrong type."""
    slot.retype()


@vice(
    keys(targets.messages(), "role"),
    "shape/message",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
        "transcript/results-follow-calls",
    ),
)
def message_role_dropped(slot: Slot) -> None:
    """A message of a request has no role."""
    slot.drop()


@vice(keys(targets.messages("system", "user", "tool"), "content"), "shape/message")
def message_content_dropped(slot: Slot) -> None:
    """A message that must have content has none."""
    slot.drop()


@vice(
    keys(targets.messages("tool"), "tool_call_id"),
    "shape/message",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def result_id_dropped(slot: Slot) -> None:
    """A tool message does not say which call it answers."""
    slot.drop()


@vice(
    keys(targets.messages(), "role", "content", "tool_call_id", "reasoning_content", "reasoning_details", "tool_calls"),
    "shape/message",
    kin=(
        "reasoning/dropped-on-plain-turns",
        "request/assistant-message-not-empty",
        "transcript/calls-answered",
        "transcript/result-answers-call",
        "transcript/results-follow-calls",
    ),
)
def message_key_retyped(slot: Slot) -> None:
    """A key of a message has a value of the wrong type."""
    slot.retype()


@vice(keys(targets.messages(), "content"), "shape/message")
def message_content_number_in_list(slot: Slot) -> None:
    """The content of a message is a list that holds something else than parts."""
    slot.put([slot.value])


@vice(
    keys(targets.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def history_call_key_dropped(slot: Slot) -> None:
    """A tool call sent back lacks a key that it must have."""
    slot.drop()


@vice(
    keys(targets.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    kin=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def history_call_key_retyped(slot: Slot) -> None:
    """A key of a tool call sent back has a value of the wrong type."""
    slot.retype()


@vice(
    keys(targets.definitions, "type", "function", "function/name"),
    "shape/tool-definition",
    kin=("tool-calls/name-declared",),
)
def definition_key_dropped(slot: Slot) -> None:
    """A tool definition lacks a key that it must have."""
    slot.drop()


@vice(
    keys(targets.definitions, "type", "function", "function/name", "function/description", "function/parameters"),
    "shape/tool-definition",
    kin=("tool-calls/name-declared",),
)
def definition_key_retyped(slot: Slot) -> None:
    """A key of a tool definition has a value of the wrong type."""
    slot.retype()


@vice(keys(targets.requests, "model", "messages"), "shape/request")
def request_key_null(slot: Slot) -> None:
    """A key that a request must have is null."""
    slot.put(None)


@vice(keys(targets.messages("system", "user", "tool"), "content"), "shape/message")
def message_content_null(slot: Slot) -> None:
    """The content of a message that must have some is null."""
    slot.put(None)


@vice(
    keys(targets.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    kin=("transcript/calls-answered", "transcript/result-answers-call"),
)
def history_call_key_null(slot: Slot) -> None:
    """A key of a tool call sent back is null."""
    slot.put(None)


@vice(keys(targets.messages("user"), "content"), "shape/message")
def message_content_empty_list(slot: Slot) -> None:
    """The content of a message is a list without parts."""
    slot.put([])
