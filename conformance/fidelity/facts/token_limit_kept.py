"""Fact: the limit of tokens arrives."""

from collections.abc import Iterator
from typing import Any

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import changed, setting
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="request with token limit",
    on=setting("token limit"),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("settings", {"/0/backs/0/request/max_tokens": REMOVE})],
    good=[
        example("settings", {"/0/backs/0/request/max_tokens": REMOVE, "/0/backs/0/request/max_completion_tokens": 4096})
    ],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """The limit of tokens arrives.

    A reply without its limit costs more than the user allows, or is cut where he does not expect it. To fix it, send it
    under the name that the other wire has for it.
    """
    yield from changed("token limit", given, passage)
