"""Normalized findings: without what changes from run to run, so that the same behaviour gives the same results."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from conformance.results import Outcome
from conformance.results.excerpts import with_excerpts
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index

_MIN_ID_LENGTH: Final = 6
"""Shorter ids are words that may occur in a message for another reason."""

_VOLATILE: Final = (
    (re.compile(r"http://127\.0\.0\.1:\d+(/r/\d+)?"), "http://127.0.0.1"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    # Folders of this machine, as in a stack trace that a client sends to the model.
    (re.compile(r"(?<![\w.:/])(?:file://)?/(?:[\w.@+~-]+/){2,}"), "…/"),
    # The folder of an agent, cut short in a message.
    (re.compile(r"\bconformance-work-\w*"), "conformance-work"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "(uuid)"),
    # Milliseconds since 1970, between 2017 and 2033.
    (re.compile(r"\b1[5-9]\d{11}\b"), "(time)"),
)


def normalize(outcomes: tuple[Outcome, ...], conversation: Conversation) -> tuple[Outcome, ...]:
    """Return outcomes with excerpts, without addresses, paths of this machine and ids that the client generated."""
    ids = client_ids(conversation)
    normalized = tuple([_outcome(outcome, ids) for outcome in outcomes])
    return with_excerpts(normalized, conversation, lambda text: normalize_text(text, ids))


def client_ids(conversation: Conversation) -> Mapping[str, str]:
    """Return the stand-in for each call id that no reply gave, in the order in which the ids occur."""
    given = {call.id for reply in Index(conversation).replies for call in reply.calls}
    own = dict.fromkeys([each for each in _ids(conversation) if each not in given and len(each) >= _MIN_ID_LENGTH])
    return {call_id: f"(id {number} of the client's own)" for number, call_id in enumerate(own, 1)}


def normalize_text(text: str, ids: Mapping[str, str]) -> str:
    """Return a text without what changes from run to run."""
    # Before the patterns: an id may look like a UUID, and needs its own stand-in.
    for call_id, stand_in in ids.items():
        text = text.replace(call_id, stand_in)
    for pattern, stand_in in _VOLATILE:
        text = pattern.sub(stand_in, text)
    # Last: the pattern above takes only folders that are two deep.
    return text.replace(str(Path.home()), "~")


def _ids(conversation: Conversation) -> Iterator[str]:
    index = Index(conversation)
    listed: list[Any] = [each for turn in index.turns for each in (*turn.ids, *[r.id for r in turn.results])]
    return (each for each in listed if isinstance(each, str))


def _outcome(outcome: Outcome, ids: Mapping[str, str]) -> Outcome:
    findings = [replace(found, message=normalize_text(found.message, ids)) for found in outcome.findings]
    return replace(outcome, findings=tuple(findings), reason=normalize_text(outcome.reason, ids))
