"""Vices of clients in how calls and results of a request stand to each other."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

from conformance.mutation import targets
from conformance.mutation.definition import vice
from conformance.mutation.targets import Slot

_PAIRING = ("transcript/calls-answered", "transcript/result-answers-call")


def _results(turn: Slot) -> list[int]:
    """Return the positions of the tool messages that follow a tool turn."""
    listed = turn.holder
    end = turn.key + 1
    while end < len(listed) and listed[end]["role"] == "tool":
        end += 1
    return list(range(turn.key + 1, end))


@vice(targets.messages("tool"), "transcript/calls-answered")
def result_dropped(result: Slot) -> None:
    """A result is left out."""
    result.drop()


@vice(targets.messages("tool"), "transcript/one-result-per-call")
def result_duplicated(result: Slot) -> None:
    """A result is sent twice."""
    result.holder.insert(result.key, dict(result.value))


@vice(targets.parallel_turns, "transcript/results-in-call-order")
def results_reversed(turn: Slot) -> None:
    """The results of parallel calls stand in the opposite order."""
    positions = _results(turn)
    turn.holder[positions[0] : positions[-1] + 1] = [turn.holder[at] for at in reversed(positions)]


@vice(targets.parallel_turns, "transcript/one-result-per-call", kin=("transcript/calls-answered",))
def results_share_an_id(turn: Slot) -> None:
    """The results of parallel calls all name the first call."""
    for at in _results(turn):
        turn.holder[at]["tool_call_id"] = turn.value["tool_calls"][0]["id"]


@vice(targets.messages("tool"), "transcript/result-answers-call", kin=("transcript/calls-answered",))
def result_with_foreign_id(result: Slot) -> None:
    """A result names a call that nobody made."""
    result.value["tool_call_id"] = "call_of_nobody"


@vice(targets.messages("tool"), "transcript/result-answers-call", kin=("transcript/calls-answered",))
def result_id_emptied(result: Slot) -> None:
    """A result names no call, by an empty id."""
    result.value["tool_call_id"] = ""


@vice(targets.messages("tool"), "transcript/result-answers-call", kin=("transcript/calls-answered",))
def result_id_in_other_case(result: Slot) -> None:
    """A result names its call in capitals."""
    result.value["tool_call_id"] = result.value["tool_call_id"].upper()


@vice(targets.history_calls, *_PAIRING)
def history_call_id_changed(call: dict[str, Any]) -> None:
    """A call sent back bears another id than its result."""
    call["id"] = "call_made_up"


@vice(targets.tool_turns, "transcript/result-answers-call")
def call_message_dropped(turn: Slot) -> None:
    """The message that called for results is left out."""
    turn.drop()


@vice(targets.parallel_turns, "transcript/result-answers-call")
def history_call_dropped(turn: Slot) -> None:
    """One of several calls is left out of the message, and its result is not."""
    del turn.value["tool_calls"][-1]


@vice(
    targets.tool_turns,
    "transcript/result-answers-call",
    kin=(
        "reasoning/dropped-on-plain-turns",
        "request/assistant-message-not-empty",
    ),
)
def calls_stripped(turn: Slot) -> None:
    """A message loses its calls, while their results are sent."""
    del turn.value["tool_calls"]


@vice(
    targets.tool_turns,
    "shape/message",
    kin=(
        "reasoning/dropped-on-plain-turns",
        "request/assistant-message-not-empty",
        "transcript/result-answers-call",
    ),
)
def calls_emptied(turn: Slot) -> None:
    """A message has an empty list of calls."""
    turn.value["tool_calls"] = []


@vice(targets.tool_turns, "transcript/results-follow-calls")
def user_before_results(turn: Slot) -> None:
    """A user message stands between the calls and their results."""
    turn.holder.insert(turn.key + 1, {"role": "user", "content": "Are you there?"})


@vice(targets.parallel_turns, "transcript/results-follow-calls")
def system_between_results(turn: Slot) -> None:
    """A system message stands between two results."""
    turn.holder.insert(turn.key + 2, {"role": "system", "content": "Be brief."})


@vice(targets.tool_turns, "transcript/calls-answered", kin=("transcript/result-answers-call",))
def assistant_before_results(turn: Slot) -> None:
    """Another assistant message stands between the calls and their results."""
    turn.holder.insert(turn.key + 1, {"role": "assistant", "content": "One moment."})


@vice(targets.tool_turns, *_PAIRING)
def results_after_the_next_message(turn: Slot) -> None:
    """The results come at the very end, after all other messages."""
    positions = _results(turn)
    late = [turn.holder[at] for at in positions]
    del turn.holder[positions[0] : positions[-1] + 1]
    turn.holder.extend(late)


@vice(targets.parallel_turns, *_PAIRING)
def parallel_calls_split(turn: Slot) -> None:
    """Parallel calls are sent as one message each, their results after the last."""
    calls = turn.value["tool_calls"]
    turn.holder[turn.key : turn.key + 1] = [
        {"role": "assistant", "content": "", "tool_calls": [call]} for call in calls
    ]


@vice(targets.tool_turns, "transcript/calls-answered")
def call_message_twice(turn: Slot) -> None:
    """A message with calls comes twice, and the results once."""
    turn.holder.insert(turn.key, turn.value)


@vice(targets.messages("tool"), "transcript/calls-answered", kin=("transcript/results-follow-calls",))
def result_told_by_the_user(result: Slot) -> None:
    """A result is sent as what the user says."""
    result.put({"role": "user", "content": result.value["content"]})


@vice(
    targets.messages("tool"),
    "shape/message",
    kin=(
        "transcript/calls-answered",
        "transcript/results-follow-calls",
    ),
)
def result_of_function_role(result: Slot) -> None:
    """A result is sent under the role of the calls of before."""
    result.put({"role": "function", "name": "get_weather", "content": result.value["content"]})


@vice(
    targets.messages("tool"),
    "shape/message",
    kin=("transcript/calls-answered", "transcript/results-follow-calls"),
)
def result_as_block(result: Slot) -> None:
    """A result is sent as a block in a user message."""
    block = {"type": "tool_result", "tool_use_id": result.value["tool_call_id"], "content": result.value["content"]}
    result.put({"role": "user", "content": [block]})
