"""What a driver answers, as values: the texts that the adapter ended with, its error, and what its loop did when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Raised:
    """An error that the adapter raised: the name of its class, and what it says."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Event:
    """What a loop did with calls: `gate`, `start` or `end`; a call is its name and its arguments.

    `asked`: whether one call may be run was asked, where nobody tells of the gate as a whole.
    """

    event: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    at_ms: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a job.

    `texts`: the final text of each prompt as far as it got, None within where a prompt ended without one; None as a
    whole where nobody tells. `versions`: those of the packages that were loaded.
    """

    texts: tuple[str | None, ...] | None = None
    error: Raised | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    events: tuple[Event, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Answer":
        """Return the answer of a document that fits `schemas/files/adapter-answer.json`."""
        error = value.get("error")
        return cls(
            tuple(value["texts"]),
            None if error is None else Raised(error["type"], error["message"]),
            value.get("version", {}),
            tuple([_event(each) for each in value.get("events", ())]),
        )


def _event(value: Mapping[str, Any]) -> Event:
    calls = value["calls"] if value["event"] == "gate" else [value["call"]]
    return Event(value["event"], tuple([(call["name"], call["arguments"]) for call in calls]), value["at_ms"])
