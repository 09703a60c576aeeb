"""Fact: the arguments of a call keep their value and the text in which the model wrote them."""

from collections.abc import Iterator

from conformance.fidelity import BOTH, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage, arguments_value, squeezed
from conformance.fidelity.spoken import Kind
from conformance.wire.values import rendered
from conformance.wires import by_name


@fact(
    Level.MUST,
    element="call with arguments",
    on=kept(Kind.CALL),
    of=BOTH,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[
        example("session", {"/0/front/response/content/2/input/city": "Pari"}),
        example("session", {"/1/backs/0/request/messages/1/tool_calls/0/function/arguments": "{}"}),
    ],
    good=[example("session", {"/1/backs/0/request/messages/1/tool_calls/0/function/arguments": '{"city":"Paris"}'})],
    echoed=True,
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """The arguments of a call keep their value, and the text in which the model wrote them.

    Numbers beyond 2⁵³, empty objects and texts that are not JSON are changed most often. To fix it, pass the text on,
    and parse it only where the other wire holds an object. Another order of keys alone is a SHOULD.
    """
    before, after = each.before, each.after
    if after is None:
        return
    value, got = arguments_value(before.value), arguments_value(after.value)
    at, became = passage.at(before), passage.at_after(after)
    if rendered(value, sort=True) != rendered(got, sort=True):
        yield PassageLoss(f"expected the arguments {before.value!r:.80}, got {after.value!r:.80}", at, became)
    elif squeezed(str(before.value)) != squeezed(str(after.value)) and _holds_text(passage):
        text = f"expected the text of the arguments {before.value!r:.60}, got {after.value!r:.60}"
        yield PassageLoss(text, at, became, Level.SHOULD)


def _holds_text(passage: Passage) -> bool:
    """Return whether both wires have arguments as the text that the model wrote."""
    sides = (passage.before.exchange, passage.after.exchange)
    return not any([by_name(each.protocol).holds_objects for each in sides])
