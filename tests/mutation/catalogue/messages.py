"""Faults of clients in single messages of a request: keys of their own, content, misplaced reasoning."""

from typing import Any

from tests.mutation import targets
from tests.mutation.definition import mutation
from tests.mutation.targets import Slot


@mutation(targets.messages("tool"), "request/no-local-only-fields")
def result_flagged_as_error(result: Slot) -> None:
    """A tool message has a flag for the failure of the tool."""
    result.value["is_error"] = True


@mutation(targets.messages("tool"), "request/no-unknown-fields")
def result_with_name(result: Slot) -> None:
    """A tool message has the name of its function."""
    result.value["name"] = "get_weather"


@mutation(targets.messages("assistant"), "request/no-local-only-fields")
def finish_reason_in_history(turn: Slot) -> None:
    """An assistant message is sent back with its finish reason."""
    turn.value["finish_reason"] = "stop"


@mutation(targets.messages("user", "assistant"), "request/no-local-only-fields")
def timestamp_in_history(message: Slot) -> None:
    """A message has a timestamp."""
    message.value["timestamp"] = 1_767_225_600


@mutation(targets.messages(), "request/no-unknown-fields")
def id_of_message(message: Slot) -> None:
    """A message has an id that the client made."""
    message.value["id"] = "msg_1"


@mutation(targets.history_calls, "request/no-unknown-fields")
def index_in_history(call: dict[str, Any]) -> None:
    """A call sent back still has the index of its fragments."""
    call["index"] = 0


@mutation(targets.history_calls, "request/no-unknown-fields")
def parsed_arguments_in_history(call: dict[str, Any]) -> None:
    """A call sent back has parsed arguments beside their text."""
    call["function"]["parsed_arguments"] = {"city": "Paris"}


@mutation(targets.history_calls, "shape/tool-call")
def history_arguments_as_object(call: dict[str, Any]) -> None:
    """The arguments of a call sent back are an object."""
    call["function"]["arguments"] = {"city": "Paris"}


@mutation(targets.messages("user"), "reasoning/on-assistant-messages-only")
def reasoning_of_the_user(message: Slot) -> None:
    """A user message has reasoning."""
    message.value["reasoning_content"] = "Is it cold?"


@mutation(targets.messages("tool"), "reasoning/on-assistant-messages-only")
def reasoning_of_a_tool(result: Slot) -> None:
    """A tool message has reasoning details."""
    result.value["reasoning_details"] = []


@mutation(targets.plain_turns, "reasoning/dropped-on-plain-turns")
def reasoning_on_plain_turn(turn: Slot) -> None:
    """The reasoning of an answer is sent back with it."""
    turn.value["reasoning_content"] = "It is known."


@mutation(targets.plain_turns, "reasoning/dropped-on-plain-turns")
def details_on_plain_turn(turn: Slot) -> None:
    """The reasoning details of an answer are sent back with it."""
    turn.value["reasoning_details"] = [{"type": "reasoning.text", "text": "It is known."}]


@mutation(targets.plain_turns, "reasoning/dropped-on-plain-turns")
def thinking_parts_on_plain_turn(turn: Slot) -> None:
    """The reasoning of an answer is sent back as a part of its content."""
    text_part = {"type": "text", "text": turn.value["content"]}
    turn.value["content"] = [{"type": "thinking", "thinking": [{"type": "text", "text": "It is known."}]}, text_part]


@mutation(targets.tool_turns, "reasoning/under-canonical-field")
def thinking_blocks_in_history(turn: Slot) -> None:
    """An assistant message has a reasoning field that only gateways know."""
    turn.value["thinking_blocks"] = [{"type": "thinking", "thinking": "It is known."}]


@mutation(targets.tool_turns, "reasoning/sent-fields-agree", claims={"reasoning.input.both": "accepted"})
def reasoning_differs_between_sent_fields(turn: Slot) -> None:
    """An assistant message has reasoning in two fields with different texts."""
    turn.value["reasoning_content"] = turn.value.get("reasoning_content") or "It is known."
    turn.value["reasoning"] = "Something else."


@mutation(targets.tool_turns, "reasoning/no-think-tags-sent")
def reasoning_in_content_of_history(turn: Slot) -> None:
    """The reasoning of an assistant message is in its content, between tags."""
    turn.value["content"] = "<think>\nIt is known.\n</think>\n\n"


@mutation(targets.plain_turns, "request/assistant-message-not-empty")
def plain_turn_content_null(turn: Slot) -> None:
    """The content of an assistant message without calls is null."""
    turn.value["content"] = None


@mutation(targets.plain_turns, "request/assistant-message-not-empty")
def plain_turn_content_emptied(turn: Slot) -> None:
    """The content of an assistant message without calls is the empty string."""
    turn.value["content"] = ""


@mutation(targets.plain_turns, "request/assistant-message-not-empty")
def plain_turn_content_dropped(turn: Slot) -> None:
    """An assistant message has neither content nor calls."""
    del turn.value["content"]


@mutation(targets.requests_with_tools, "request/tool-choice-declared", related=("tool-calls/named-choice-obeyed",))
def tool_choice_of_unknown_function(body: dict[str, Any]) -> None:
    """The function in tool_choice is not declared."""
    body["tool_choice"] = {"type": "function", "function": {"name": "get_rain"}}


@mutation(targets.requests_with_tools, "shape/request", related=("tool-calls/name-declared",))
def tools_emptied(body: dict[str, Any]) -> None:
    """A request declares an empty list of tools."""
    body["tools"] = []
    body.pop("tool_choice", None)


@mutation(targets.requests, "shape/request")
def messages_emptied(body: dict[str, Any]) -> None:
    """A request has no messages."""
    body["messages"] = []


@mutation(targets.messages("assistant"), "request/no-unknown-fields")
def reply_keys_in_history(turn: Slot) -> None:
    """An assistant message is sent back with a key that only replies have."""
    turn.value["annotations"] = []


@mutation(targets.messages("user"), "request/no-unknown-fields")
def unknown_key_in_part(message: Slot) -> None:
    """A text part has a key of another message model."""
    message.value["content"] = [{"type": "text", "text": message.value["content"], "citations": None}]


@mutation(targets.tool_turns, "shape/message")
def blocks_of_another_model(turn: Slot) -> None:
    """A call is also sent as a block of another message model."""
    turn.value["content"] = [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}]


@mutation(targets.history_calls, "shape/tool-call", related=("request/no-unknown-fields",))
def history_call_flat(call: dict[str, Any]) -> None:
    """A call sent back has its name and arguments beside its id."""
    call |= call.pop("function")
