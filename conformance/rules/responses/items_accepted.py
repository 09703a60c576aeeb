from collections.abc import Iterator

from conformance.results import Level
from conformance.rules import ELEMENT, Claimed, Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items

_KINDS = "responses.unsupported-items"
_BLOB = "responses.encrypted-content"
_CONTENT = "responses.reasoning-without-content"
_NULL = "responses.null-in-item"
_REFUSAL = {"status": 400, "message": "Unsupported input item type: {kind}"}


def _is_picky(claimed: Claimed) -> bool:
    return bool(claimed.claim(_KINDS)) or any([claimed.rejects_or_damages(name) for name in (_BLOB, _CONTENT, _NULL)])


@rule(
    Level.MUST,
    on=sent_items,
    reach=ELEMENT,
    when=_is_picky,
    source=Source("https://github.com/vllm-project/vllm", "Unsupported input item type"),
    bad=[
        example(
            "responses-request",
            {"/0/request/input/-": {"type": "item_reference", "id": "msg_02"}, "/0/request/store": True},
            {_KINDS: {"kinds": ["item_reference"], "refusal": _REFUSAL}},
        ),
        example("responses-request", claims={_BLOB: {"status": 400}}),
        example("responses-request", claims={_CONTENT: {"status": 400}}),
        example("responses-request", {"/0/request/input/1/content": None}, {_NULL: {"status": 400}}),
    ],
    good=[
        example("responses-request", claims={_KINDS: {"kinds": ["item_reference"], "refusal": _REFUSAL}}),
        example("responses-request", claims={_NULL: {"status": 400}}),
    ],
    reads=(_KINDS, _BLOB, _CONTENT, _NULL),
    wires=("responses",),
)
def judge(item: SentItem, context: Context) -> list[Fault]:
    """An input has only items, and keys of items, that the provider takes.

    Many hosts know messages, reasoning, calls and outputs only, and some not even those that they reply with.
    To fix it, send whole items instead of references, and leave out what the provider does not take.
    """
    return list(_faults(item, context))


def _faults(item: SentItem, context: Context) -> Iterator[Fault]:
    values = {"kind": item.kind, "id": item.id, "index": item.number}
    unsupported = context.claim(_KINDS)
    if unsupported and item.kind in unsupported["kinds"]:
        listed = ", ".join(unsupported["kinds"])
        yield Fault(f"expected no item of the kinds {listed}, got one", values=values, claim=_KINDS)
    if item.kind == "reasoning":
        text, blob = bool(item.value.get("content")), bool(item.value.get("encrypted_content"))
        if blob and context.rejects_or_damages(_BLOB):
            yield Fault("expected no encrypted_content, got some", values=values, claim=_BLOB)
        if not text and context.rejects_or_damages(_CONTENT):
            yield Fault("expected the reasoning as text in content, got none", values=values, claim=_CONTENT)
    if context.rejects_or_damages(_NULL):
        for key, value in item.value.items():
            if value is None:
                yield Fault(f"expected no {key}, or a value, got null", at=(key,), values=values, claim=_NULL)
