"""Fact: a parameter that the gateway does not know is passed on, or the request refused."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.passages import Passage
from conformance.wire.values import as_object

PREFIX: Final = "x_conformance"
"""How the parameter begins that no gateway knows."""


def _unknown(passage: Passage) -> Sequence[str]:
    return [key for key in as_object(passage.before.native) if key.startswith(PREFIX)]


@fact(
    Level.MAY,
    element="unknown parameter",
    on=_unknown,
    of=REQUESTS,
    source=Source("https://docs.litellm.ai/docs/completion/drop_params"),
    bad=[example("settings", {"/0/backs/0/request/x_conformance_flag": REMOVE})],
    good=[example("settings")],
)
def judge(key: str, passage: Passage) -> Iterator[PassageLoss]:
    """A parameter that the gateway does not know is passed on, or the request refused.

    What is dropped in silence has no effect that its user expects. To fix it, pass it on, or say that it is refused.
    """
    if key not in passage.after.raw:
        at = passage.pointer_before(f"/request/{key}")
        yield PassageLoss(
            f"expected {key} or a refusal, got a request without it", at, passage.pointer_after("/request")
        )
