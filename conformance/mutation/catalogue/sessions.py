"""Vices of clients that show between requests: a history that is rewritten, shortened or told anew."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from collections.abc import Iterator, Sequence

import orjson

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import SURVIVED, Allowed, Find, vice
from conformance.mutation.targets import Slot

_GROWS = "transcript/history-append-only"
_COMES_BACK = "transcript/reply-resent"
_UNCHANGED = "transcript/reply-resent-unchanged"
_LOST = "transcript/no-user-message-lost"
_UNTIED = tuple(
    Allowed(SURVIVED, "Without the only words of the user nothing ties the two requests together.", on=host)
    for host in ("plain-session/0-1", "reasoning-without-tools.*")
)


def _earlier(*roles: str) -> Find:
    """Return a finder of those messages of the last request that were in the one before, too."""

    def find(records: Sequence[Record]) -> Iterator[Slot]:
        known = len(records[-2]["request"]["messages"])
        return (slot for slot in targets.messages(*roles)(records[-1:]) if slot.key < known)

    return find


def _turns(records: Sequence[Record]) -> Iterator[Slot]:
    return targets.tool_turns(records[-1:])


def _answers(records: Sequence[Record]) -> Iterator[Slot]:
    return targets.plain_turns(records[-1:])


def _earlier_turns(records: Sequence[Record]) -> Iterator[Slot]:
    return (slot for slot in _earlier("assistant")(records) if "tool_calls" in slot.value)


def _earlier_answers(records: Sequence[Record]) -> Iterator[Slot]:
    return (slot for slot in _earlier("assistant")(records) if "tool_calls" not in slot.value)


def _answered(turn: Slot) -> list[Slot]:
    """Return the results of a tool turn."""
    ids = [call["id"] for call in turn.value["tool_calls"]]
    return [slot for slot in targets.messages("tool")([turn.record]) if slot.value["tool_call_id"] in ids]


@vice(_earlier("system"), _GROWS, sessions=True)
def system_message_rewritten(message: Slot) -> None:
    """The system message tells the time, and so differs from request to request."""
    message.value["content"] += " It is noon."


@vice(_earlier("system"), _GROWS, sessions=True)
def system_message_lost(message: Slot) -> None:
    """The system message is sent with the first request only."""
    message.drop()


@vice(_earlier("user"), _GROWS, sessions=True, allows=_UNTIED)
def user_message_edited(message: Slot) -> None:
    """What the user said is sent otherwise in a later request."""
    message.value["content"] = f"[at noon] {message.value['content']}"


@vice(_earlier("user"), _LOST, sessions=True, allows=_UNTIED)
def user_message_lost(message: Slot) -> None:
    """What the user said is not sent again in a later request."""
    message.drop()


@vice(_earlier("tool"), _GROWS, sessions=True)
def result_edited(message: Slot) -> None:
    """A result that was sent is sent otherwise in a later request."""
    message.value["content"] = "(old result cleared)"


@vice(_earlier("user"), _GROWS, sessions=True)
def system_message_after_user(message: Slot) -> None:
    """The system message changes places with the user's."""
    before = message.holder[message.key - 1]
    if message.key and before["role"] == "system":
        message.holder[message.key - 1 : message.key + 1] = [message.value, before]


@vice(_turns, _COMES_BACK, kin=(_GROWS,), sessions=True)
def calls_told_as_text(turn: Slot) -> None:
    """The calls of a reply, and their results, are told in words."""
    told = "; ".join(call["function"]["name"] + call["function"]["arguments"] for call in turn.value["tool_calls"])
    results = _answered(turn)
    said = ", ".join(result.value["content"] for result in results)
    turn.holder[turn.key : turn.key + 1 + len(results)] = [
        {"role": "assistant", "content": f"I call {told}."},
        {"role": "user", "content": f"Observation: {said}"},
    ]


@vice(_turns, _UNCHANGED, sessions=True)
def arguments_written_anew(turn: Slot) -> None:
    """The arguments of a call come back parsed and written anew, with other white space."""
    function = turn.value["tool_calls"][0]["function"]
    function["arguments"] = orjson.dumps(orjson.loads(function["arguments"]), option=orjson.OPT_INDENT_2).decode()


@vice(_turns, _UNCHANGED, sessions=True)
def arguments_edited(turn: Slot) -> None:
    """The arguments of a call come back with another value."""
    turn.value["tool_calls"][0]["function"]["arguments"] = '{"city": "Nowhere"}'


@vice(_turns, _UNCHANGED, sessions=True)
def arguments_cleared(turn: Slot) -> None:
    """The arguments of a call come back as an empty object."""
    turn.value["tool_calls"][0]["function"]["arguments"] = "{}"


@vice(_turns, _UNCHANGED, sessions=True)
def function_renamed(turn: Slot) -> None:
    """The function of a call comes back under another name."""
    turn.value["tool_calls"][0]["function"]["name"] = "get_rain"


@vice(_turns, _UNCHANGED, kin=(_GROWS,), sessions=True)
def call_ids_rewritten(turn: Slot) -> None:
    """The calls of a reply come back under ids of the client's own, and so do their results."""
    results = _answered(turn)
    for number, call in enumerate(turn.value["tool_calls"]):
        own = f"toolu_{turn.key}_{number}"
        for result in results:
            if result.value["tool_call_id"] == call["id"]:
                result.value["tool_call_id"] = own
        call["id"] = own


@vice(_turns, _UNCHANGED, sessions=True)
def content_added_to_calls(turn: Slot) -> None:
    """A reply with calls comes back with words that it did not say."""
    turn.value["content"] = f"{turn.value['content'] or ''} Let me look."


@vice(_earlier_answers, _GROWS, sessions=True)
def answer_edited(turn: Slot) -> None:
    """An answer that was sent back before is sent in other words."""
    turn.value["content"] = f"In short: {turn.value['content']}"


def _fresh_answers(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the answer to the request before the last, where it comes back."""
    known = len(records[-2]["request"]["messages"])
    return (slot for slot in _answers(records) if slot.key >= known)


@vice(
    _fresh_answers,
    _UNCHANGED,
    sessions=True,
    allows=[Allowed(SURVIVED, "An answer has no ids by which it would be known again when it comes in other words.")],
)
def fresh_answer_edited(turn: Slot) -> None:
    """The answer that was just given comes back in other words."""
    turn.value["content"] = f"In short: {turn.value['content']}"


@vice(_answers, _UNCHANGED, sessions=True)
def answer_trimmed(turn: Slot) -> None:
    """An answer comes back with white space that it did not have."""
    turn.value["content"] += "\n"


def _parallel(records: Sequence[Record]) -> Iterator[Slot]:
    return targets.parallel_turns(records[-1:])


@vice(_parallel, _UNCHANGED, kin=(_GROWS,), sessions=True)
def call_lost_with_its_result(turn: Slot) -> None:
    """One of several calls of a reply does not come back, nor does its result."""
    lost = turn.value["tool_calls"].pop()["id"]
    for result in targets.messages("tool")([turn.record]):
        if result.value["tool_call_id"] == lost:
            result.drop()
            return


@vice(_parallel, _UNCHANGED, kin=(_GROWS, "reasoning/signatures-resent"), sessions=True)
def calls_reordered(turn: Slot) -> None:
    """The calls of a reply come back in another order, and so do their results."""
    turn.value["tool_calls"].reverse()
    results = _answered(turn)
    turn.holder[turn.key + 1 : turn.key + 1 + len(results)] = [result.value for result in reversed(results)]


@vice(_earlier_turns, _GROWS, sessions=True)
def loop_left_out(turn: Slot) -> None:
    """A reply with calls that was sent back before is left out, with its results."""
    del turn.holder[turn.key : turn.key + 1 + len(_answered(turn))]


@vice(_earlier_answers, _GROWS, sessions=True)
def answer_left_out(turn: Slot) -> None:
    """An answer that was sent back before is left out."""
    turn.drop()
