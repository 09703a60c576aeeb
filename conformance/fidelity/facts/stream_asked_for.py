"""Fact: a streamed request is streamed by the provider, too."""

from collections.abc import Iterator, Sequence

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.passages import Passage


def _streamed(passage: Passage) -> Sequence[Passage]:
    return [passage] if passage.before.body.get("stream") is True else []


@fact(
    Level.MUST,
    element="request for a stream",
    on=_streamed,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat-streaming"),
    bad=[example("stream", {"/0/backs/0/request/stream": False})],
    good=[example("stream")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A streamed request is streamed by the provider, too.

    A gateway that asks for the whole reply and cuts it up makes its user wait for the end. To fix it, ask for a stream.
    """
    if passage.after.body.get("stream") is not True:
        at = passage.pointer_before(passage.before.pointer(("request", "stream")))
        became = passage.pointer_after(passage.after.pointer(("request", "stream")))
        yield PassageLoss("expected a request for a stream, got one for a whole reply", at, became)
