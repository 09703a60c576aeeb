"""Vices of clients that show between requests: reasoning that a reply gave and a later request sends back otherwise."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import Find, vice
from conformance.mutation.targets import Slot

_KEY = "reasoning_details"


def _later(find: Find) -> Find:
    """Return a finder that looks at the last request alone, whose history is the session's."""
    return lambda records: find(records[-1:])


@_later
def _reasoned(records: Sequence[Record]) -> Iterator[Slot]:
    return targets.reasoned_turns(records)


@_later
def _detailed(records: Sequence[Record]) -> Iterator[Slot]:
    return (turn for turn in targets.tool_turns(records) if turn.value.get(_KEY))


@_later
def _signed(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    return (call for call in targets.history_calls(records) if "extra_content" in call)


@vice(_reasoned, "reasoning/resent-on-tool-turns", sessions=True)
def reasoning_not_resent(turn: Slot) -> None:
    """The reasoning of a reply with calls is not sent back."""
    del turn.value["reasoning_content"]


@vice(_reasoned, "reasoning/verbatim", sessions=True)
def reasoning_edited(turn: Slot) -> None:
    """The reasoning of a reply with calls is sent back shortened."""
    turn.value["reasoning_content"] = turn.value["reasoning_content"][:-4]


@vice(_reasoned, "reasoning/verbatim", sessions=True)
def reasoning_trimmed(turn: Slot) -> None:
    """The reasoning of a reply with calls is sent back with white space that it did not have."""
    turn.value["reasoning_content"] += "\n"


@vice(_reasoned, "reasoning/verbatim", sessions=True)
def reasoning_emptied_in_session(turn: Slot) -> None:
    """The reasoning of a reply with calls is sent back as an empty string."""
    turn.value["reasoning_content"] = ""


@vice(_detailed, "reasoning/details-unchanged", sessions=True)
def details_reordered(turn: Slot) -> None:
    """The reasoning details come back in another order."""
    turn.value[_KEY].reverse()


@vice(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_dropped(turn: Slot) -> None:
    """One of the reasoning details does not come back."""
    del turn.value[_KEY][-1]


@vice(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_duplicated(turn: Slot) -> None:
    """One of the reasoning details comes back twice."""
    turn.value[_KEY].append(turn.value[_KEY][-1])


@vice(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_edited(turn: Slot) -> None:
    """The text of the first of the reasoning details comes back shortened."""
    turn.value[_KEY][0]["text"] = turn.value[_KEY][0]["text"][:-4]


@vice(_detailed, "reasoning/details-unchanged", sessions=True)
def detail_key_dropped(turn: Slot) -> None:
    """A key of the last of the reasoning details does not come back."""
    del turn.value[_KEY][-1]["id"]


@vice(_detailed, "reasoning/details-unchanged", sessions=True)
def details_emptied(turn: Slot) -> None:
    """The reasoning details come back as an empty list."""
    turn.value[_KEY] = []


@vice(_detailed, "reasoning/resent-on-tool-turns", sessions=True)
def details_not_resent(turn: Slot) -> None:
    """The reasoning details do not come back at all."""
    del turn.value[_KEY]


@vice(_signed, "reasoning/signatures-resent", sessions=True)
def signature_dropped(call: dict[str, Any]) -> None:
    """The thought signature of a call does not come back."""
    del call["extra_content"]


@vice(_signed, "reasoning/signatures-resent", sessions=True)
def signature_edited(call: dict[str, Any]) -> None:
    """The thought signature of a call comes back changed."""
    call["extra_content"]["google"]["thought_signature"] = "b3RoZXI="
