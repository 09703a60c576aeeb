"""Answers that a reader wants at first sight: what a provider or an adapter does, in a word, and what that means.

An answer is a value and its meaning for an agent loop. On what it rests, and how old that is, is a second channel.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from conformance.results import Evidence

EVIDENCE_WORDS: Final[Mapping[str, str]] = {
    Evidence.LIVE.value: "live",
    Evidence.RECORDED.value: "seen",
    Evidence.ENGINE.value: "engine",
    Evidence.SIMULATED.value: "simulated",
    "sources": "docs",
    "sent": "sent",
    "assumed": "assumed",
    "": "no source",
}
"""The word in a cell for each kind of evidence."""

ASSUMED: Final = "assumed"
"""The evidence of an answer that nobody claims or observed: it is that of the canonical wire."""

SENT: Final = "sent"
"""The evidence about an adapter: requests that it really sent, to a simulated provider."""


class Meaning(StrEnum):
    """What an answer means for an agent loop, the worst first."""

    BREAKS = "breaks"
    BEWARE = "beware"
    UNKNOWN = "unknown"
    WORKS = "works"


WORST_FIRST: Final = tuple(Meaning)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that each provider or each adapter answers: the head of a column, and the question in full."""

    name: str
    head: str
    text: str


@dataclass(frozen=True, slots=True)
class SubjectAnswer:
    """One answer: a value in a few characters, and notes on it.

    `evidence`: a kind, `sources`, `assumed`, `sent`, or empty if the value is unknown. `count`: how many recordings or
    engine exchanges confirm it. `read`: the ISO 8601 day on which its sources were last read. `seen` and `seen_model`:
    the day and the model of the last recording that confirms it. `row`: the row of the table with its details, if there
    is a cell. `others`: models with another value, and that value. `contested`: another source disagrees, or some
    recordings contradict it. A note that rests on other evidence than the value says so.
    """

    value: str
    meaning: Meaning
    notes: tuple[str, ...] = ()
    evidence: str = ""
    count: int = 0
    read: str = ""
    seen: str = ""
    seen_model: str = ""
    row: str = ""
    contested: bool = False
    others: Sequence[tuple[Sequence[str], str]] = ()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one subject in one protocol, in the order of the questions."""

    subject: str
    protocol: str
    answers: Sequence[SubjectAnswer]


def worst(meanings: Iterable[Meaning]) -> Meaning:
    """Return the worst of some meanings, `unknown` if there are none."""
    return min(meanings, key=WORST_FIRST.index, default=Meaning.UNKNOWN)
