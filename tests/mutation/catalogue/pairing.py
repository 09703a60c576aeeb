"""Faults of clients in the pairing of calls and results."""

from typing import Any

from tests.mutation import targets
from tests.mutation.definition import mutation
from tests.mutation.targets import Slot

_PAIRING = ("transcript/calls-answered", "transcript/result-answers-call")


def _results(turn: Slot) -> list[int]:
    """Return the positions of the tool messages that follow a tool turn."""
    listed = turn.holder
    end = turn.key + 1
    while end < len(listed) and listed[end]["role"] == "tool":
        end += 1
    return list(range(turn.key + 1, end))


@mutation(targets.messages("tool"), "transcript/calls-answered")
def result_dropped(result: Slot) -> None:
    """A tool result is left out."""
    result.drop()


@mutation(targets.messages("tool"), "transcript/one-result-per-call")
def result_duplicated(result: Slot) -> None:
    """A tool result is sent twice."""
    result.holder.insert(result.key, dict(result.value))


@mutation(targets.parallel_turns, "transcript/results-in-call-order")
def results_reversed(turn: Slot) -> None:
    """The results of parallel calls are in reverse order."""
    positions = _results(turn)
    turn.holder[positions[0] : positions[-1] + 1] = [turn.holder[at] for at in reversed(positions)]


@mutation(targets.parallel_turns, "transcript/one-result-per-call", related=("transcript/calls-answered",))
def results_share_an_id(turn: Slot) -> None:
    """The results of parallel calls all have the id of the first call."""
    for at in _results(turn):
        turn.holder[at]["tool_call_id"] = turn.value["tool_calls"][0]["id"]


@mutation(targets.messages("tool"), "transcript/result-answers-call", related=("transcript/calls-answered",))
def result_with_foreign_id(result: Slot) -> None:
    """A tool result has the id of no call."""
    result.value["tool_call_id"] = "call_of_nobody"


@mutation(targets.messages("tool"), "transcript/result-answers-call", related=("transcript/calls-answered",))
def result_id_emptied(result: Slot) -> None:
    """The call id of a tool result is empty."""
    result.value["tool_call_id"] = ""


@mutation(targets.messages("tool"), "transcript/result-answers-call", related=("transcript/calls-answered",))
def result_id_in_other_case(result: Slot) -> None:
    """The call id of a tool result is in upper case."""
    result.value["tool_call_id"] = result.value["tool_call_id"].upper()


@mutation(targets.history_calls, *_PAIRING)
def history_call_id_changed(call: dict[str, Any]) -> None:
    """A call sent back has another id than its result."""
    call["id"] = "call_made_up"


@mutation(targets.tool_turns, "transcript/result-answers-call")
def call_message_dropped(turn: Slot) -> None:
    """The message with the calls is left out, but their results are sent."""
    turn.drop()


@mutation(targets.parallel_turns, "transcript/result-answers-call")
def history_call_dropped(turn: Slot) -> None:
    """One of several calls is left out of the message, but its result is sent."""
    del turn.value["tool_calls"][-1]


@mutation(
    targets.tool_turns,
    "transcript/result-answers-call",
    related=(
        "reasoning/dropped-on-plain-turns",
        "request/assistant-message-not-empty",
    ),
)
def calls_stripped(turn: Slot) -> None:
    """The calls of a message are removed, but their results are sent."""
    del turn.value["tool_calls"]


@mutation(
    targets.tool_turns,
    "shape/message",
    related=(
        "reasoning/dropped-on-plain-turns",
        "request/assistant-message-not-empty",
        "transcript/result-answers-call",
    ),
)
def calls_emptied(turn: Slot) -> None:
    """A message has an empty list of calls."""
    turn.value["tool_calls"] = []


@mutation(targets.tool_turns, "transcript/results-follow-calls")
def user_before_results(turn: Slot) -> None:
    """A user message stands between the calls and their results."""
    turn.holder.insert(turn.key + 1, {"role": "user", "content": "Are you there?"})


@mutation(targets.parallel_turns, "transcript/results-follow-calls")
def system_between_results(turn: Slot) -> None:
    """A system message stands between two tool results."""
    turn.holder.insert(turn.key + 2, {"role": "system", "content": "Be brief."})


@mutation(targets.tool_turns, "transcript/calls-answered", related=("transcript/result-answers-call",))
def assistant_before_results(turn: Slot) -> None:
    """Another assistant message stands between the calls and their results."""
    turn.holder.insert(turn.key + 1, {"role": "assistant", "content": "One moment."})


@mutation(targets.tool_turns, *_PAIRING)
def results_after_the_next_message(turn: Slot) -> None:
    """The tool results come at the very end, after all other messages."""
    positions = _results(turn)
    late = [turn.holder[at] for at in positions]
    del turn.holder[positions[0] : positions[-1] + 1]
    turn.holder.extend(late)


@mutation(targets.parallel_turns, *_PAIRING)
def parallel_calls_split(turn: Slot) -> None:
    """Parallel calls are split into one message each, with the results after the last."""
    calls = turn.value["tool_calls"]
    turn.holder[turn.key : turn.key + 1] = [
        {"role": "assistant", "content": "", "tool_calls": [call]} for call in calls
    ]


@mutation(targets.tool_turns, "transcript/calls-answered")
def call_message_twice(turn: Slot) -> None:
    """A message with calls is sent twice, its results once."""
    turn.holder.insert(turn.key, turn.value)


@mutation(targets.messages("tool"), "transcript/calls-answered", related=("transcript/results-follow-calls",))
def result_sent_as_user_message(result: Slot) -> None:
    """A tool result is sent as a user message."""
    result.put({"role": "user", "content": result.value["content"]})


@mutation(
    targets.messages("tool"),
    "shape/message",
    related=(
        "transcript/calls-answered",
        "transcript/results-follow-calls",
    ),
)
def result_of_function_role(result: Slot) -> None:
    """A tool result is sent under the legacy role function."""
    result.put({"role": "function", "name": "get_weather", "content": result.value["content"]})


@mutation(
    targets.messages("tool"),
    "shape/message",
    related=("transcript/calls-answered", "transcript/results-follow-calls"),
)
def result_as_block(result: Slot) -> None:
    """A tool result is sent as a block in a user message."""
    block = {"type": "tool_result", "tool_use_id": result.value["tool_call_id"], "content": result.value["content"]}
    result.put({"role": "user", "content": [block]})
