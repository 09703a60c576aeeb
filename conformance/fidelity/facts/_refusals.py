"""Replies that refuse, and what they say."""

from collections.abc import Sequence
from typing import Any

from conformance.fidelity.passages import Passage
from conformance.wire.values import as_object


def refused(passage: Passage) -> Sequence[Passage]:
    """Return the passage as its only element if the provider refuses."""
    return [passage] if passage.is_reply and passage.before.is_refused else []


def message(body: Any) -> str:
    """Return what an error says, in whatever shape; empty if it says nothing."""
    found = body[0] if type(body) is list and body else body
    if type(found) is str:
        return found
    error = as_object(found).get("error", found)
    return (
        error if type(error) is str else str(as_object(error).get("message") or as_object(found).get("message") or "")
    )
