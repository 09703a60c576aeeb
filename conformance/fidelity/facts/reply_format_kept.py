"""Fact: the form that the reply has to have arrives."""

from collections.abc import Iterator
from typing import Any

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import setting
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="request with reply format",
    on=setting("reply format"),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("settings", {"/0/backs/0/request/response_format": REMOVE})],
    good=[example("settings", {"/0/backs/0/request/response_format/json_schema/strict": True})],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """The form that the reply has to have arrives.

    Without it, the reply is prose where a client parses JSON. To fix it, send it under the name that the other wire has
    for it.
    """
    value, pointer = given
    found = passage.after.setting("reply format")
    at = passage.pointer_before(pointer)
    if found is None:
        yield PassageLoss(f"expected reply format {value!r:.60}, got none", at, passage.pointer_after("/request"))
