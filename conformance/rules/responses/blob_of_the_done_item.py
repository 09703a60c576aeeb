from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items


@rule(
    Level.MUST,
    on=sent_items,
    reach=ELEMENT,
    where=lambda item, _context: item.origin is not None and item.origin.unfinished is not None,
    source=Source(
        "https://github.com/openai/openai-python",
        "The `encrypted_content` in `response.output_item.added` may be incomplete.",
    ),
    bad=[example("responses-stream", {"/1/request/input/1/encrypted_content": "YmU="})],
    good=[example("responses-stream")],
    claim="responses.unfinished-blob",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """The encrypted content of streamed reasoning is that of `response.output_item.done`.

    The item is added before the model has finished thinking, so that its blob there may lack most of the reasoning. The
    server may accept it all the same; the reasoning is lost. To fix it, take the whole item from the event that ends
    it.
    """
    origin = item.origin
    if origin is None or item.value.get("encrypted_content") != origin.unfinished:
        return []
    values = {"id": item.id, "index": item.number}
    message = "expected the encrypted_content of output_item.done, got that of output_item.added"
    return [Fault(message, at=("encrypted_content",), values=values, is_loss=True)]
