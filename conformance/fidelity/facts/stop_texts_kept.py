"""Fact: the texts that end a reply arrive."""

from collections.abc import Iterator
from typing import Any

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import changed, setting
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="request with stop texts",
    on=setting("stop texts"),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("settings", {"/0/backs/0/request/stop": REMOVE})],
    good=[example("settings", {"/0/backs/0/request/stop": "END"})],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """The texts that end a reply arrive.

    A parser behind the reply counts on them. To fix it, send it under the name that the other wire has for it.
    """
    yield from changed("stop texts", given, passage)
