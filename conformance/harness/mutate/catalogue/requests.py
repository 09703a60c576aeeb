"""Vices of clients that one request shows: calls and results unpaired, keys of their own, reasoning misplaced."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

from conformance.harness.mutate import places
from conformance.harness.mutate.places import Slot
from conformance.harness.mutate.vice import vice

_PAIRING = ("transcript/calls-answered", "transcript/result-answers-call")


def _results(turn: Slot) -> list[int]:
    """Return the positions of the tool messages that follow a tool turn."""
    listed = turn.holder
    end = turn.key + 1
    while end < len(listed) and listed[end]["role"] == "tool":
        end += 1
    return list(range(turn.key + 1, end))


@vice(places.messages("tool"), "transcript/calls-answered")
def result_dropped(result: Slot) -> None:
    """A result is left out."""
    result.drop()


@vice(places.messages("tool"), "transcript/one-result-a-call")
def result_duplicated(result: Slot) -> None:
    """A result is sent twice."""
    result.holder.insert(result.key, dict(result.value))


@vice(places.parallel_turns, "transcript/results-in-call-order")
def results_reversed(turn: Slot) -> None:
    """The results of parallel calls stand in the opposite order."""
    positions = _results(turn)
    turn.holder[positions[0] : positions[-1] + 1] = [turn.holder[at] for at in reversed(positions)]


@vice(places.parallel_turns, "transcript/one-result-a-call", kin=("transcript/calls-answered",))
def results_share_an_id(turn: Slot) -> None:
    """The results of parallel calls all name the first call."""
    for at in _results(turn):
        turn.holder[at]["tool_call_id"] = turn.value["tool_calls"][0]["id"]


@vice(places.messages("tool"), "transcript/result-answers-call", kin=("transcript/calls-answered",))
def result_with_foreign_id(result: Slot) -> None:
    """A result names a call that nobody made."""
    result.value["tool_call_id"] = "call_of_nobody"


@vice(places.messages("tool"), "transcript/result-answers-call", kin=("transcript/calls-answered",))
def result_id_emptied(result: Slot) -> None:
    """A result names no call, by an empty id."""
    result.value["tool_call_id"] = ""


@vice(places.messages("tool"), "transcript/result-answers-call", kin=("transcript/calls-answered",))
def result_id_in_other_case(result: Slot) -> None:
    """A result names its call in capitals."""
    result.value["tool_call_id"] = result.value["tool_call_id"].upper()


@vice(places.history_calls, *_PAIRING)
def history_call_id_changed(call: dict[str, Any]) -> None:
    """A call sent back bears another id than its result."""
    call["id"] = "call_made_up"


@vice(places.tool_turns, "transcript/result-answers-call")
def call_message_dropped(turn: Slot) -> None:
    """The message that called for results is left out."""
    turn.drop()


@vice(places.parallel_turns, "transcript/result-answers-call")
def history_call_dropped(turn: Slot) -> None:
    """One of several calls is left out of the message, and its result is not."""
    del turn.value["tool_calls"][-1]


@vice(
    places.tool_turns,
    "transcript/result-answers-call",
    kin=(
        "reasoning/dropped-on-plain-turns",
        "request/plain-turn-has-content",
    ),
)
def calls_stripped(turn: Slot) -> None:
    """A message loses its calls, while their results are sent."""
    del turn.value["tool_calls"]


@vice(
    places.tool_turns,
    "shape/message",
    kin=(
        "reasoning/dropped-on-plain-turns",
        "request/plain-turn-has-content",
        "transcript/result-answers-call",
    ),
)
def calls_emptied(turn: Slot) -> None:
    """A message has an empty list of calls."""
    turn.value["tool_calls"] = []


@vice(places.tool_turns, "transcript/results-directly-follow")
def user_before_results(turn: Slot) -> None:
    """A user message stands between the calls and their results."""
    turn.holder.insert(turn.key + 1, {"role": "user", "content": "Are you there?"})


@vice(places.parallel_turns, "transcript/results-directly-follow")
def system_between_results(turn: Slot) -> None:
    """A system message stands between two results."""
    turn.holder.insert(turn.key + 2, {"role": "system", "content": "Be brief."})


@vice(places.tool_turns, "transcript/calls-answered", kin=("transcript/result-answers-call",))
def assistant_before_results(turn: Slot) -> None:
    """Another assistant message stands between the calls and their results."""
    turn.holder.insert(turn.key + 1, {"role": "assistant", "content": "One moment."})


@vice(places.tool_turns, *_PAIRING)
def results_after_the_next_message(turn: Slot) -> None:
    """The results come at the very end, after all other messages."""
    positions = _results(turn)
    late = [turn.holder[at] for at in positions]
    del turn.holder[positions[0] : positions[-1] + 1]
    turn.holder.extend(late)


@vice(places.parallel_turns, *_PAIRING)
def parallel_calls_split(turn: Slot) -> None:
    """Parallel calls are sent as one message each, their results after the last."""
    calls = turn.value["tool_calls"]
    turn.holder[turn.key : turn.key + 1] = [
        {"role": "assistant", "content": "", "tool_calls": [call]} for call in calls
    ]


@vice(places.messages("tool"), "request/no-local-only-fields")
def result_flagged_as_error(result: Slot) -> None:
    """A tool message says by a flag that the tool failed."""
    result.value["is_error"] = True


@vice(places.messages("tool"), "request/no-unknown-fields")
def result_with_name(result: Slot) -> None:
    """A tool message bears the name of its function."""
    result.value["name"] = "get_weather"


@vice(places.messages("assistant"), "request/no-local-only-fields")
def finish_reason_in_history(turn: Slot) -> None:
    """An assistant message sent back bears its finish reason."""
    turn.value["finish_reason"] = "stop"


@vice(places.messages("user", "assistant"), "request/no-local-only-fields")
def timestamp_in_history(message: Slot) -> None:
    """A message bears the time at which it was said."""
    message.value["timestamp"] = 1_767_225_600


@vice(places.messages(), "request/no-unknown-fields")
def id_of_message(message: Slot) -> None:
    """A message bears an id of the client's own."""
    message.value["id"] = "msg_1"


@vice(places.history_calls, "request/no-unknown-fields")
def index_in_history(call: dict[str, Any]) -> None:
    """A call sent back still bears the index of its fragments."""
    call["index"] = 0


@vice(places.history_calls, "request/no-unknown-fields")
def parsed_arguments_in_history(call: dict[str, Any]) -> None:
    """A call sent back bears its arguments parsed beside their text."""
    call["function"]["parsed_arguments"] = {"city": "Paris"}


@vice(places.history_calls, "shape/tool-call")
def history_arguments_as_object(call: dict[str, Any]) -> None:
    """The arguments of a call sent back are an object."""
    call["function"]["arguments"] = {"city": "Paris"}


@vice(places.messages("user"), "reasoning/on-assistant-messages-only")
def reasoning_of_the_user(message: Slot) -> None:
    """A user message carries reasoning."""
    message.value["reasoning_content"] = "Is it cold?"


@vice(places.messages("tool"), "reasoning/on-assistant-messages-only")
def reasoning_of_a_tool(result: Slot) -> None:
    """A tool message carries reasoning details."""
    result.value["reasoning_details"] = []


@vice(places.plain_turns, "reasoning/dropped-on-plain-turns")
def reasoning_on_plain_turn(turn: Slot) -> None:
    """The reasoning of an answer is sent back with it."""
    turn.value["reasoning_content"] = "It is known."


@vice(places.plain_turns, "reasoning/dropped-on-plain-turns")
def details_on_plain_turn(turn: Slot) -> None:
    """The reasoning details of an answer are sent back with it."""
    turn.value["reasoning_details"] = [{"type": "reasoning.text", "text": "It is known."}]


@vice(places.plain_turns, "reasoning/dropped-on-plain-turns")
def thinking_parts_on_plain_turn(turn: Slot) -> None:
    """The thinking of an answer is sent back as a part of its content."""
    said = {"type": "text", "text": turn.value["content"]}
    turn.value["content"] = [{"type": "thinking", "thinking": [{"type": "text", "text": "It is known."}]}, said]


@vice(places.tool_turns, "reasoning/under-canonical-field")
def thinking_blocks_in_history(turn: Slot) -> None:
    """An assistant message carries a gateway's own field of reasoning."""
    turn.value["thinking_blocks"] = [{"type": "thinking", "thinking": "It is known."}]


@vice(places.plain_turns, "request/plain-turn-has-content")
def plain_turn_content_null(turn: Slot) -> None:
    """An assistant message has null for content and no calls."""
    turn.value["content"] = None


@vice(places.plain_turns, "request/plain-turn-has-content")
def plain_turn_content_emptied(turn: Slot) -> None:
    """An assistant message has an empty string for content and no calls."""
    turn.value["content"] = ""


@vice(places.plain_turns, "request/plain-turn-has-content")
def plain_turn_content_dropped(turn: Slot) -> None:
    """An assistant message has neither content nor calls."""
    del turn.value["content"]


def _with_tools(records: Any) -> Any:
    return (body for body in places.requests(records) if body.get("tools"))


@vice(_with_tools, "request/tool-choice-declared", kin=("tool-calls/named-choice-obeyed",))
def tool_choice_of_unknown_function(body: dict[str, Any]) -> None:
    """The function that tool_choice names is not declared."""
    body["tool_choice"] = {"type": "function", "function": {"name": "get_rain"}}


@vice(_with_tools, "shape/request", kin=("tool-calls/name-declared",))
def tools_emptied(body: dict[str, Any]) -> None:
    """A request declares an empty list of tools."""
    body["tools"] = []
    body.pop("tool_choice", None)


@vice(places.requests, "shape/request")
def messages_emptied(body: dict[str, Any]) -> None:
    """A request holds no message."""
    body["messages"] = []


@vice(places.tool_turns, "transcript/calls-answered")
def call_message_twice(turn: Slot) -> None:
    """A message with calls comes twice, and the results once."""
    turn.holder.insert(turn.key, turn.value)


@vice(places.messages("tool"), "transcript/calls-answered", kin=("transcript/results-directly-follow",))
def result_told_by_the_user(result: Slot) -> None:
    """A result is sent as what the user says."""
    result.put({"role": "user", "content": result.value["content"]})


@vice(
    places.messages("tool"),
    "shape/message",
    kin=(
        "transcript/calls-answered",
        "transcript/results-directly-follow",
    ),
)
def result_of_function_role(result: Slot) -> None:
    """A result is sent under the role of the calls of before."""
    result.put({"role": "function", "name": "get_weather", "content": result.value["content"]})


@vice(places.messages("assistant"), "request/no-unknown-fields")
def reply_keys_in_history(turn: Slot) -> None:
    """An assistant message is sent back with what only a reply carries."""
    turn.value["annotations"] = []


@vice(places.messages("user"), "request/no-unknown-fields")
def unknown_key_in_part(message: Slot) -> None:
    """A text part bears a key of another message model."""
    message.value["content"] = [{"type": "text", "text": message.value["content"], "citations": None}]
