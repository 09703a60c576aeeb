"""Faults of clients that show between requests: the reasoning of a reply is sent back changed, or not at all."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import mutation
from tests.mutation.targets import Slot, in_last_request

_KEY = "reasoning_details"


_reasoned = in_last_request(targets.reasoned_turns)


@in_last_request
def _detailed(records: Sequence[Record]) -> Iterator[Slot]:
    return (turn for turn in targets.tool_turns(records) if turn.value.get(_KEY))


@in_last_request
def _signed(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    return (call for call in targets.history_calls(records) if "extra_content" in call)


@mutation(_reasoned, "reasoning/resent-on-tool-turns", sessions=True)
def reasoning_not_resent(turn: Slot) -> None:
    """The reasoning of a reply with calls is not sent back."""
    del turn.value["reasoning_content"]


@mutation(_reasoned, "reasoning/verbatim", sessions=True)
def reasoning_edited(turn: Slot) -> None:
    """The reasoning of a reply with calls is sent back shortened."""
    turn.value["reasoning_content"] = turn.value["reasoning_content"][:-4]


@mutation(_reasoned, "reasoning/verbatim", sessions=True)
def reasoning_trimmed(turn: Slot) -> None:
    """The reasoning of a reply with calls is sent back with white space that it did not have."""
    turn.value["reasoning_content"] += "\n"


@mutation(_reasoned, "reasoning/verbatim", sessions=True)
def reasoning_emptied_in_session(turn: Slot) -> None:
    """The reasoning of a reply with calls is sent back as an empty string."""
    turn.value["reasoning_content"] = ""


@mutation(_detailed, "reasoning/details-unchanged", sessions=True)
def details_reordered(turn: Slot) -> None:
    """The reasoning details are sent back in another order."""
    turn.value[_KEY].reverse()


@mutation(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_dropped(turn: Slot) -> None:
    """One of the reasoning details is not sent back."""
    del turn.value[_KEY][-1]


@mutation(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_duplicated(turn: Slot) -> None:
    """One of the reasoning details is sent back twice."""
    turn.value[_KEY].append(turn.value[_KEY][-1])


@mutation(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_edited(turn: Slot) -> None:
    """The text of the first reasoning detail is sent back shortened."""
    turn.value[_KEY][0]["text"] = turn.value[_KEY][0]["text"][:-4]


@mutation(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_key_dropped(turn: Slot) -> None:
    """A key of the last reasoning detail is not sent back."""
    del turn.value[_KEY][-1]["id"]


@mutation(_detailed, "reasoning/details-unchanged", sessions=True)
def details_emptied(turn: Slot) -> None:
    """The reasoning details are sent back as an empty list."""
    turn.value[_KEY] = []


@mutation(_detailed, "reasoning/resent-on-tool-turns", sessions=True)
def details_not_resent(turn: Slot) -> None:
    """The reasoning details are not sent back."""
    del turn.value[_KEY]


@mutation(_signed, "reasoning/signatures-resent", sessions=True)
def signature_dropped(call: dict[str, Any]) -> None:
    """The thought signature of a call is not sent back."""
    del call["extra_content"]


@mutation(_signed, "reasoning/signatures-resent", sessions=True)
def signature_edited(call: dict[str, Any]) -> None:
    """The thought signature of a call is sent back changed."""
    call["extra_content"]["google"]["thought_signature"] = "b3RoZXI="
