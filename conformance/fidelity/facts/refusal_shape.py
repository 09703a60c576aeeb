"""Fact: a refusal has the shape of the client's wire."""

from collections.abc import Iterator

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._refusals import message, refused
from conformance.fidelity.passages import Passage
from conformance.wire.native import CHAT
from conformance.wire.values import as_object
from conformance.wires import by_name


@fact(
    Level.MUST,
    element="refusal",
    on=refused,
    of=REPLIES,
    source=Source("https://platform.claude.com/docs/en/api/errors"),
    bad=[example("refusal", {"/0/front/response": {"detail": "The value of max_tokens is too large."}})],
    good=[example("refusal", {"/0/front/response/request_id": "req_1"})],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A refusal has the shape of the client's wire, with its words where the SDK of that wire reads them.

    To fix it, write errors as that wire has them: an `error` with a `message`, on Messages in an object of type error.
    """
    wire, body = passage.after.exchange.protocol, passage.after.native
    shape = {"error": {"message": "", "type": ""}}
    wanted = shape if wire == CHAT else by_name(wire).writing.reply(shape, {})
    got = body[0] if type(body) is list and body else body
    missing = [key for key in wanted if key not in as_object(got)]
    if missing or not message(got) or type(as_object(got).get("error")) is not dict:
        at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
        what = f"no {missing[0]!r}" if missing else f"{got!r:.100}"
        yield PassageLoss(f"expected an error as {by_name(wire).title} has it, got {what}", at, became)
