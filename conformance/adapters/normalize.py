"""What changes from run to run in findings, taken out of them, so that the same behaviour gives the same results."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from conformance.results import Finding, Outcome
from conformance.results.excerpts import quoted
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index

_SHORTEST: Final = 6
"""Ids that are shorter are words that may stand in a message for another reason."""

_VOLATILE: Final = (
    (re.compile(r"http://127\.0\.0\.1:\d+(/r/\d+)?"), "http://127.0.0.1"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    # The folders of this machine, as a stack trace that a client sends to the model tells them.
    (re.compile(r"(?<![\w.:/])(?:file://)?/(?:[\w.@+~-]+/){2,}"), "…/"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "(uuid)"),
)


def steady(outcomes: tuple[Outcome, ...], conversation: Conversation) -> tuple[Outcome, ...]:
    """Return outcomes whose words hold no address, no path of this machine and no id that the client made up.

    What their findings point at is quoted, likewise.
    """
    known = invented(conversation)
    told = tuple([_outcome(each, known) for each in outcomes])
    return quoted(told, conversation, lambda text: words(text, known))


def invented(conversation: Conversation) -> Mapping[str, str]:
    """Return what stands for each id of a call that no reply gave, in the order in which they came."""
    given = {call.id for reply in Index(conversation).replies for call in reply.calls}
    made = dict.fromkeys([each for each in _ids(conversation) if each not in given and len(each) >= _SHORTEST])
    return {identity: f"(id {number} of the client's own)" for number, identity in enumerate(made, 1)}


def words(text: str, known: Mapping[str, str]) -> str:
    """Return a text without what changes from run to run."""
    for identity, stand_in in known.items():
        text = text.replace(identity, stand_in)
    for pattern, stand_in in _VOLATILE:
        text = pattern.sub(stand_in, text)
    return text.replace(str(Path.home()), "~")


def _ids(conversation: Conversation) -> Iterator[str]:
    index = Index(conversation)
    listed: list[Any] = [identity for turn in index.turns for identity in (*turn.ids, *[r.id for r in turn.results])]
    return (each for each in listed if isinstance(each, str))


def _outcome(outcome: Outcome, known: Mapping[str, str]) -> Outcome:
    findings = tuple([_finding(each, known) for each in outcome.findings])
    return replace(outcome, findings=findings, reason=words(outcome.reason, known))


def _finding(finding: Finding, known: Mapping[str, str]) -> Finding:
    return replace(finding, message=words(finding.message, known))
