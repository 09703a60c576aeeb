"""Vices of clients in single messages of a request: keys of their own, content, reasoning misplaced."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

from conformance.mutation import targets
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot


@vice(targets.messages("tool"), "request/no-local-only-fields")
def result_flagged_as_error(result: Slot) -> None:
    """A tool message says by a flag that the tool failed."""
    result.value["is_error"] = True


@vice(targets.messages("tool"), "request/no-unknown-fields")
def result_with_name(result: Slot) -> None:
    """A tool message bears the name of its function."""
    result.value["name"] = "get_weather"


@vice(targets.messages("assistant"), "request/no-local-only-fields")
def finish_reason_in_history(turn: Slot) -> None:
    """An assistant message sent back bears its finish reason."""
    turn.value["finish_reason"] = "stop"


@vice(targets.messages("user", "assistant"), "request/no-local-only-fields")
def timestamp_in_history(message: Slot) -> None:
    """A message bears the time at which it was said."""
    message.value["timestamp"] = 1_767_225_600


@vice(targets.messages(), "request/no-unknown-fields")
def id_of_message(message: Slot) -> None:
    """A message bears an id of the client's own."""
    message.value["id"] = "msg_1"


@vice(targets.history_calls, "request/no-unknown-fields")
def index_in_history(call: dict[str, Any]) -> None:
    """A call sent back still bears the index of its fragments."""
    call["index"] = 0


@vice(targets.history_calls, "request/no-unknown-fields")
def parsed_arguments_in_history(call: dict[str, Any]) -> None:
    """A call sent back bears its arguments parsed beside their text."""
    call["function"]["parsed_arguments"] = {"city": "Paris"}


@vice(targets.history_calls, "shape/tool-call")
def history_arguments_as_object(call: dict[str, Any]) -> None:
    """The arguments of a call sent back are an object."""
    call["function"]["arguments"] = {"city": "Paris"}


@vice(targets.messages("user"), "reasoning/on-assistant-messages-only")
def reasoning_of_the_user(message: Slot) -> None:
    """A user message carries reasoning."""
    message.value["reasoning_content"] = "Is it cold?"


@vice(targets.messages("tool"), "reasoning/on-assistant-messages-only")
def reasoning_of_a_tool(result: Slot) -> None:
    """A tool message carries reasoning details."""
    result.value["reasoning_details"] = []


@vice(targets.plain_turns, "reasoning/dropped-on-plain-turns")
def reasoning_on_plain_turn(turn: Slot) -> None:
    """The reasoning of an answer is sent back with it."""
    turn.value["reasoning_content"] = "It is known."


@vice(targets.plain_turns, "reasoning/dropped-on-plain-turns")
def details_on_plain_turn(turn: Slot) -> None:
    """The reasoning details of an answer are sent back with it."""
    turn.value["reasoning_details"] = [{"type": "reasoning.text", "text": "It is known."}]


@vice(targets.plain_turns, "reasoning/dropped-on-plain-turns")
def thinking_parts_on_plain_turn(turn: Slot) -> None:
    """The thinking of an answer is sent back as a part of its content."""
    said = {"type": "text", "text": turn.value["content"]}
    turn.value["content"] = [{"type": "thinking", "thinking": [{"type": "text", "text": "It is known."}]}, said]


@vice(targets.tool_turns, "reasoning/under-canonical-field")
def thinking_blocks_in_history(turn: Slot) -> None:
    """An assistant message carries a gateway's own field of reasoning."""
    turn.value["thinking_blocks"] = [{"type": "thinking", "thinking": "It is known."}]


@vice(targets.plain_turns, "request/assistant-message-not-empty")
def plain_turn_content_null(turn: Slot) -> None:
    """An assistant message has null for content and no calls."""
    turn.value["content"] = None


@vice(targets.plain_turns, "request/assistant-message-not-empty")
def plain_turn_content_emptied(turn: Slot) -> None:
    """An assistant message has an empty string for content and no calls."""
    turn.value["content"] = ""


@vice(targets.plain_turns, "request/assistant-message-not-empty")
def plain_turn_content_dropped(turn: Slot) -> None:
    """An assistant message has neither content nor calls."""
    del turn.value["content"]


def _with_tools(records: Any) -> Any:
    return (body for body in targets.requests(records) if body.get("tools"))


@vice(_with_tools, "request/tool-choice-declared", kin=("tool-calls/named-choice-obeyed",))
def tool_choice_of_unknown_function(body: dict[str, Any]) -> None:
    """The function that tool_choice names is not declared."""
    body["tool_choice"] = {"type": "function", "function": {"name": "get_rain"}}


@vice(_with_tools, "shape/request", kin=("tool-calls/name-declared",))
def tools_emptied(body: dict[str, Any]) -> None:
    """A request declares an empty list of tools."""
    body["tools"] = []
    body.pop("tool_choice", None)


@vice(targets.requests, "shape/request")
def messages_emptied(body: dict[str, Any]) -> None:
    """A request holds no message."""
    body["messages"] = []


@vice(targets.messages("assistant"), "request/no-unknown-fields")
def reply_keys_in_history(turn: Slot) -> None:
    """An assistant message is sent back with what only a reply carries."""
    turn.value["annotations"] = []


@vice(targets.messages("user"), "request/no-unknown-fields")
def unknown_key_in_part(message: Slot) -> None:
    """A text part bears a key of another message model."""
    message.value["content"] = [{"type": "text", "text": message.value["content"], "citations": None}]


@vice(targets.tool_turns, "shape/message")
def blocks_of_another_model(turn: Slot) -> None:
    """A call is also told as a block of another message model."""
    turn.value["content"] = [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}]


@vice(targets.history_calls, "shape/tool-call", kin=("request/no-unknown-fields",))
def history_call_flat(call: dict[str, Any]) -> None:
    """A call sent back has its name and arguments beside its id."""
    call |= call.pop("function")
