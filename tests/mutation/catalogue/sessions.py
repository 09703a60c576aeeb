"""Faults of clients that show between requests: the history is rewritten or shortened."""

from collections.abc import Iterator, Sequence

import orjson

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import SURVIVED, Allowed, Find, mutation
from tests.mutation.targets import Slot, in_last_request

_GROWS = "transcript/history-append-only"
_COMES_BACK = "transcript/reply-resent"
_UNCHANGED = "transcript/reply-resent-unchanged"
_LOST = "transcript/no-user-message-lost"
_UNLINKED = tuple(
    Allowed(SURVIVED, "Without its only user message, nothing links the two requests.", on=base)
    for base in ("plain-session/0-1", "reasoning-without-tools.*")
)


def _earlier(*roles: str) -> Find:
    """Return a finder of the messages of the last request that were already in the one before."""

    def find(records: Sequence[Record]) -> Iterator[Slot]:
        known = len(records[-2]["request"]["messages"])
        return (slot for slot in targets.messages(*roles)(records[-1:]) if slot.key < known)

    return find


_turns = in_last_request(targets.tool_turns)
_parallel_turns = in_last_request(targets.parallel_turns)
_answers = in_last_request(targets.plain_turns)


def _earlier_turns(records: Sequence[Record]) -> Iterator[Slot]:
    return (slot for slot in _earlier("assistant")(records) if "tool_calls" in slot.value)


def _earlier_answers(records: Sequence[Record]) -> Iterator[Slot]:
    return (slot for slot in _earlier("assistant")(records) if "tool_calls" not in slot.value)


def _answered(turn: Slot) -> list[Slot]:
    """Return the results of a tool turn."""
    ids = [call["id"] for call in turn.value["tool_calls"]]
    return [slot for slot in targets.messages("tool")([turn.record]) if slot.value["tool_call_id"] in ids]


@mutation(_earlier("system"), _GROWS, sessions=True)
def system_message_rewritten(message: Slot) -> None:
    """The system message contains the time, so it differs between requests."""
    message.value["content"] += " It is noon."


@mutation(_earlier("system"), _GROWS, sessions=True)
def system_message_lost(message: Slot) -> None:
    """The system message is sent with the first request only."""
    message.drop()


@mutation(_earlier("user"), _GROWS, sessions=True, allows=_UNLINKED)
def user_message_edited(message: Slot) -> None:
    """A user message is changed in a later request."""
    message.value["content"] = f"[at noon] {message.value['content']}"


@mutation(_earlier("user"), _LOST, sessions=True, allows=_UNLINKED)
def user_message_lost(message: Slot) -> None:
    """A user message is not sent again in a later request."""
    message.drop()


@mutation(_earlier("tool"), _GROWS, sessions=True)
def result_edited(message: Slot) -> None:
    """A tool result is changed in a later request."""
    message.value["content"] = "(old result cleared)"


@mutation(_earlier("user"), _GROWS, sessions=True)
def system_message_after_user(message: Slot) -> None:
    """The system message and the user message are swapped."""
    before = message.holder[message.key - 1]
    if message.key and before["role"] == "system":
        message.holder[message.key - 1 : message.key + 1] = [message.value, before]


@mutation(_turns, _COMES_BACK, related=(_GROWS,), sessions=True)
def calls_sent_as_text(turn: Slot) -> None:
    """The calls of a reply and their results are sent as text."""
    calls = "; ".join(call["function"]["name"] + call["function"]["arguments"] for call in turn.value["tool_calls"])
    results = _answered(turn)
    texts = ", ".join(result.value["content"] for result in results)
    turn.holder[turn.key : turn.key + 1 + len(results)] = [
        {"role": "assistant", "content": f"I call {calls}."},
        {"role": "user", "content": f"Observation: {texts}"},
    ]


@mutation(_turns, _UNCHANGED, sessions=True)
def arguments_written_anew(turn: Slot) -> None:
    """The arguments of a call are parsed and written again, with other white space."""
    function = turn.value["tool_calls"][0]["function"]
    function["arguments"] = orjson.dumps(orjson.loads(function["arguments"]), option=orjson.OPT_INDENT_2).decode()


@mutation(_turns, _UNCHANGED, sessions=True)
def arguments_edited(turn: Slot) -> None:
    """The arguments of a call are sent back with another value."""
    turn.value["tool_calls"][0]["function"]["arguments"] = '{"city": "Nowhere"}'


@mutation(_turns, _UNCHANGED, sessions=True)
def arguments_cleared(turn: Slot) -> None:
    """The arguments of a call are sent back as an empty object."""
    turn.value["tool_calls"][0]["function"]["arguments"] = "{}"


@mutation(_turns, _UNCHANGED, sessions=True)
def function_renamed(turn: Slot) -> None:
    """The function of a call is sent back under another name."""
    turn.value["tool_calls"][0]["function"]["name"] = "get_rain"


@mutation(_turns, _UNCHANGED, related=(_GROWS,), sessions=True)
def call_ids_rewritten(turn: Slot) -> None:
    """The calls of a reply and their results are sent back under new ids."""
    results = _answered(turn)
    for number, call in enumerate(turn.value["tool_calls"]):
        own = f"toolu_{turn.key}_{number}"
        for result in results:
            if result.value["tool_call_id"] == call["id"]:
                result.value["tool_call_id"] = own
        call["id"] = own


@mutation(_turns, _UNCHANGED, sessions=True)
def content_added_to_calls(turn: Slot) -> None:
    """A reply with calls is sent back with content that it did not have."""
    turn.value["content"] = f"{turn.value['content'] or ''} Let me look."


@mutation(_earlier_answers, _UNCHANGED, sessions=True)
def answer_edited(turn: Slot) -> None:
    """The text of an answer that was sent before is changed."""
    turn.value["content"] = f"In short: {turn.value['content']}"


def _fresh_answers(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the answer to the request before the last, if it is sent back."""
    known = len(records[-2]["request"]["messages"])
    return (slot for slot in _answers(records) if slot.key >= known)


@mutation(_fresh_answers, _UNCHANGED, sessions=True)
def fresh_answer_edited(turn: Slot) -> None:
    """The text of the newest answer is changed when it is sent back."""
    turn.value["content"] = f"In short: {turn.value['content']}"


@mutation(_answers, _UNCHANGED, sessions=True)
def answer_trimmed(turn: Slot) -> None:
    """An answer is sent back with white space that it did not have."""
    turn.value["content"] += "\n"


def _turns_with_text(records: Sequence[Record]) -> Iterator[Slot]:
    return (slot for slot in _turns(records) if slot.value.get("content"))


@mutation(_turns_with_text, _UNCHANGED, sessions=True)
def reply_split(turn: Slot) -> None:
    """The text and the calls of a reply are sent back as two messages."""
    text = {"role": "assistant", "content": turn.value["content"]}
    turn.holder[turn.key : turn.key + 1] = [text, {**turn.value, "content": None}]


@mutation(_parallel_turns, _UNCHANGED, sessions=True)
def calls_split(turn: Slot) -> None:
    """Each call of a reply is sent back in a message of its own, followed by its result."""
    results = _answered(turn)
    pairs = zip(turn.value["tool_calls"], [result.value for result in results], strict=True)
    messages = [each for call, result in pairs for each in ({**turn.value, "tool_calls": [call]}, result)]
    turn.holder[turn.key : turn.key + 1 + len(results)] = messages


@mutation(
    _turns,
    _COMES_BACK,
    related=("transcript/result-answers-call", "reasoning/dropped-on-plain-turns", _GROWS),
    sessions=True,
)
def calls_not_resent(turn: Slot) -> None:
    """A reply is sent back without its calls, but with their results."""
    del turn.value["tool_calls"]
    turn.value["content"] = turn.value["content"] or "Let me look."


@mutation(_turns, _COMES_BACK, related=("transcript/result-answers-call", _GROWS), sessions=True)
def reply_not_resent(turn: Slot) -> None:
    """A reply with calls is not sent back, but the results of the calls are."""
    turn.drop()


@mutation(_parallel_turns, _UNCHANGED, related=(_GROWS,), sessions=True)
def call_lost_with_its_result(turn: Slot) -> None:
    """One of several calls of a reply is not sent back, nor is its result."""
    lost = turn.value["tool_calls"].pop()["id"]
    for result in targets.messages("tool")([turn.record]):
        if result.value["tool_call_id"] == lost:
            result.drop()
            return


@mutation(_parallel_turns, _UNCHANGED, related=(_GROWS, "reasoning/signatures-resent"), sessions=True)
def calls_reordered(turn: Slot) -> None:
    """The calls of a reply and their results are sent back in another order."""
    turn.value["tool_calls"].reverse()
    results = _answered(turn)
    turn.holder[turn.key + 1 : turn.key + 1 + len(results)] = [result.value for result in reversed(results)]


@mutation(_earlier_turns, _GROWS, sessions=True)
def loop_left_out(turn: Slot) -> None:
    """A reply with calls that was sent before is left out, with its results."""
    del turn.holder[turn.key : turn.key + 1 + len(_answered(turn))]


@mutation(_earlier_answers, _GROWS, sessions=True)
def answer_left_out(turn: Slot) -> None:
    """An answer that was sent before is left out."""
    turn.drop()
