"""Faults in single values of requests: a required key is missing, or has a value of the wrong type."""

from tests.mutation import targets
from tests.mutation.definition import mutation
from tests.mutation.targets import Slot, keys


@mutation(keys(targets.requests, "model", "messages"), "shape/request")
def request_key_dropped(slot: Slot) -> None:
    """The body of a request lacks a required key."""
    slot.drop()


@mutation(
    keys(targets.requests, "model", "messages", "tools", "stream", "stream_options", "stream_options/include_usage"),
    "shape/request",
    related=("http/streams-when-asked", "tool-calls/name-declared"),
)
def request_key_retyped(slot: Slot) -> None:
    """A key of a request's body has a value of the wrong type."""
    slot.retype()


@mutation(
    keys(targets.messages(), "role"),
    "shape/message",
    related=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
        "transcript/results-follow-calls",
    ),
)
def message_role_dropped(slot: Slot) -> None:
    """A message of a request has no role."""
    slot.drop()


@mutation(keys(targets.messages("system", "user", "tool"), "content"), "shape/message")
def message_content_dropped(slot: Slot) -> None:
    """A message that requires content has none."""
    slot.drop()


@mutation(
    keys(targets.messages("tool"), "tool_call_id"),
    "shape/message",
    related=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def result_id_dropped(slot: Slot) -> None:
    """A tool message has no call id."""
    slot.drop()


@mutation(
    keys(targets.messages(), "role", "content", "tool_call_id", "reasoning_content", "reasoning_details", "tool_calls"),
    "shape/message",
    related=(
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


@mutation(keys(targets.messages(), "content"), "shape/message")
def message_content_number_in_list(slot: Slot) -> None:
    """The content of a message is a list of something other than parts."""
    slot.put([slot.value])


@mutation(
    keys(targets.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    related=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def history_call_key_dropped(slot: Slot) -> None:
    """A tool call sent back lacks a required key."""
    slot.drop()


@mutation(
    keys(targets.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    related=(
        "transcript/calls-answered",
        "transcript/result-answers-call",
    ),
)
def history_call_key_retyped(slot: Slot) -> None:
    """A key of a tool call sent back has a value of the wrong type."""
    slot.retype()


@mutation(
    keys(targets.definitions, "type", "function", "function/name"),
    "shape/tool-definition",
    related=("tool-calls/name-declared",),
)
def definition_key_dropped(slot: Slot) -> None:
    """A tool definition lacks a required key."""
    slot.drop()


@mutation(
    keys(targets.definitions, "type", "function", "function/name", "function/description", "function/parameters"),
    "shape/tool-definition",
    related=("tool-calls/name-declared",),
)
def definition_key_retyped(slot: Slot) -> None:
    """A key of a tool definition has a value of the wrong type."""
    slot.retype()


@mutation(keys(targets.requests, "model", "messages"), "shape/request")
def request_key_null(slot: Slot) -> None:
    """A required key of a request is null."""
    slot.put(None)


@mutation(keys(targets.messages("system", "user", "tool"), "content"), "shape/message")
def message_content_null(slot: Slot) -> None:
    """The content of a message that requires some is null."""
    slot.put(None)


@mutation(
    keys(targets.history_calls, "id", "type", "function", "function/name", "function/arguments"),
    "shape/tool-call",
    related=("transcript/calls-answered", "transcript/result-answers-call"),
)
def history_call_key_null(slot: Slot) -> None:
    """A key of a tool call sent back is null."""
    slot.put(None)


@mutation(keys(targets.messages("user"), "content"), "shape/message")
def message_content_empty_list(slot: Slot) -> None:
    """The content of a message is an empty list."""
    slot.put([])
