"""Fact: a refused request is not repeated unchanged, and an answered one is not sent again."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.passages import Passage

_RETRIED: Final = (408, 409, 429)

_WORDS: Final = "The value of max_tokens is too large."
_REFUSED: Final = {
    "request": {
        "model": "example-model",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "What is the weather in Oslo?"}],
    },
    "response": {"error": {"message": _WORDS, "type": "invalid_request_error", "param": None, "code": None}},
    "status": 400,
    "url": "http://provider/v1/chat/completions",
}


def _repeated(passage: Passage) -> Sequence[Passage]:
    return [passage] if passage.pair.backs else []


@fact(
    Level.MUST,
    element="request behind the gateway",
    on=_repeated,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/guides/error-codes"),
    bad=[example("refusal", {"/0/backs/-": _REFUSED})],
    good=[example("refusal", {"/0/backs/-": _REFUSED, "/0/backs/0/status": 429})],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A refused request is not repeated unchanged, and an answered one is not sent again.

    A second try of what is refused costs time, and a second answer money; a streamed call would be run twice. To fix
    it, repeat only after a 408, 409, 429 or 5xx, and not once a part of the reply has reached the client.
    """
    backs = passage.pair.backs
    for number, (one, other) in enumerate(pairwise(backs), 1):
        status = one.status or 0
        if status in _RETRIED or status >= 500 or one.as_received.request != other.as_received.request:
            continue
        at, became = passage.pointer_before("/request"), passage.pointer_after("/request")
        what = f"refused with {status}" if status >= 400 else "answered"
        yield PassageLoss(f"expected one request, got it again (try {number + 1}) after it was {what}", at, became)
