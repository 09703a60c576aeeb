"""Fact: the share of likely tokens arrives."""

from collections.abc import Iterator
from typing import Any

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import changed, setting
from conformance.fidelity.passages import Passage


@fact(
    Level.SHOULD,
    element="request with top_p",
    on=setting("top_p"),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("settings", {"/0/backs/0/request/top_p": REMOVE})],
    good=[example("settings")],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """The share of likely tokens arrives.

    It limits what the model may choose from. To fix it, send it under the name that the other wire has for it.
    """
    yield from changed("top_p", given, passage)
