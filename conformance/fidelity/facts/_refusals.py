"""Replies that refuse, and what they say."""

import re
from collections.abc import Sequence
from typing import Any, Final

from conformance.documents.pointer import Place, value_at
from conformance.fidelity.passages import Passage
from conformance.wire.values import as_object, rendered

_ESCAPE: Final = re.compile(r"\\+[nrtbf]|\\+u[0-9a-fA-F]{4}")


def refused(passage: Passage) -> Sequence[Passage]:
    """Return the passage as its only element if the provider refuses."""
    return [passage] if passage.is_reply and passage.before.is_refused else []


def message(body: Any) -> str:
    """Return what an error says, in whatever shape; empty if it says nothing."""
    found = body[0] if type(body) is list and body else body
    if type(found) is str:
        return found
    error = as_object(found).get("error", found)
    said = error if type(error) is str else as_object(error).get("message") or as_object(found).get("message") or ""
    # Some hosts say what is wrong as a value.
    return said if type(said) is str else rendered(said)


def message_place(body: Any) -> Place:
    """Return where the text of an error is in its body; empty if it is the body itself, or nowhere."""
    held: Place = (0,) if type(body) is list and body else ()
    found = value_at(body, held)
    for path in (("error", "message"), ("error",), ("message",)):
        if type(value_at(found, path)) is str:
            return (*held, *path)
    return (*held, "error") if "error" in as_object(found) else ()


def words(text: str) -> str:
    """Return the letters and digits of a text, which no escape and no other notation of a value changes."""
    return "".join([each for each in _ESCAPE.sub("", text) if each.isalnum()])
