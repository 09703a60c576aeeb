"""Fact: a refusal says what the provider says."""

from collections.abc import Iterator

from conformance.documents.pointer import render
from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._refusals import message, message_place, refused, words
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="refusal",
    on=refused,
    of=REPLIES,
    source=Source("https://platform.openai.com/docs/guides/error-codes"),
    bad=[example("refusal", {"/0/front/response/error/message": "Bad request"})],
    good=[example("refusal", {"/0/front/response/error/message": "provider: The value of max_tokens is too large."})],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A refusal says what the provider says.

    Without its words, nobody can tell what to change. To fix it, put the provider's message into the error.
    """
    said = message(passage.before.native)
    if said and words(said) not in words(passage.after.raw) and said[:60] not in message(passage.after.native):
        at = passage.pointer_before(render(("response", *message_place(passage.before.native))))
        became = passage.pointer_after(render(("response", *message_place(passage.after.native))))
        yield PassageLoss(f"expected the words {said!r:.80}, got {message(passage.after.native)!r:.80}", at, became)
