from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items


def _is_sent_whole(item: SentItem, _context: Context) -> bool:
    """Return whether an item had a phase in its reply; one that is sent by its id alone still has it at the server."""
    return item.kind != "item_reference" and item.origin is not None and item.origin.value.get("phase") is not None


@rule(
    Level.SHOULD,
    on=sent_items,
    reach=ELEMENT,
    harm=Harm.CONTENT,
    where=_is_sent_whole,
    source=Source(
        "https://platform.openai.com/docs/api-reference/responses/create",
        "preserve and resend phase on all assistant messages",
    ),
    bad=[
        example("responses-session", {"/1/response/output/1/phase": "final_answer"}),
        example("responses-session", {"/1/response/output/1/phase": "final_answer", "/2/request/input/7/id": REMOVE}),
    ],
    good=[
        example(
            "responses-session",
            {"/1/response/output/1/phase": "final_answer", "/2/request/input/7/phase": "final_answer"},
        ),
    ],
    claim="responses.phase-dropped",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """A message of the assistant keeps its `phase`.

    The model marks what is commentary between calls and what is the final answer; without the mark, later turns get
    worse. To fix it, store the key with the message and send it back.
    """
    given = None if item.origin is None else item.origin.value.get("phase")
    if item.value.get("phase") == given:
        return []
    return [Fault(f"expected the phase {given!r}, as in the reply, got {item.value.get('phase')!r}", is_loss=True)]
