"""Fact: the temperature arrives."""

from collections.abc import Iterator
from typing import Any

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import changed, setting
from conformance.fidelity.passages import Passage


@fact(
    Level.SHOULD,
    element="request with temperature",
    on=setting("temperature"),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("settings", {"/0/backs/0/request/temperature": 1})],
    good=[example("settings")],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """The temperature arrives.

    A test or an extraction that asks for 0 gets chance otherwise. To fix it, send it under the name that the other wire
    has for it.
    """
    yield from changed("temperature", given, passage)
