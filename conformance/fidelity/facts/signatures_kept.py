"""Fact: signatures and encrypted reasoning reach the client, and come back to the provider."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.fidelity import BOTH, REMOVE, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import is_given, kept
from conformance.fidelity.passages import Became, Passage, carried_anywhere
from conformance.fidelity.spoken import Kind

_BLOCKS: Final = [{"type": "thinking", "thinking": "7 times 13 is 91.", "signature": "EqoBCkYIBxgCKkBexampleSignature"}]


def _signatures(passage: Passage) -> Sequence[Became]:
    """Return the signatures; of a request those that the session gave, since no provider takes those of another."""
    found = kept(Kind.SIGNATURE)(passage)
    return [each for each in found if not passage.is_request or is_given(each.before.value, passage)]


@fact(
    Level.MUST,
    element="signature of reasoning",
    on=_signatures,
    of=BOTH,
    source=Source("https://platform.claude.com/docs/en/build-with-claude/thinking"),
    bad=[example("signed", {"/0/front/response/choices/0/message/reasoning_details": REMOVE})],
    good=[
        example(
            "signed",
            {
                "/0/front/response/choices/0/message/reasoning_details": REMOVE,
                "/0/front/response/choices/0/message/thinking_blocks": _BLOCKS,
            },
        )
    ],
    echoed=True,
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Signatures and encrypted reasoning reach the client, and come back to the provider, byte for byte.

    A provider that signs refuses reasoning without its signature, and calls that had one. To fix it, put the signature
    where the client's wire has a place for it, and read it from there; a wire without one needs a member of its own.
    """
    if each.after is None and not carried_anywhere(each.before.value, passage):
        text = f"expected the signature {each.before.value[:24]!r}…, got it nowhere"
        yield PassageLoss(text, passage.at(each.before), passage.at_loss(each.before))
