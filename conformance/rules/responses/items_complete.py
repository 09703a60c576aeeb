from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import objects

_KINDS = ("message", "function_call")
_KEYS = ("id", "status")


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: any([item.get("type") in _KINDS for _, item in objects(reply.value.get("output"))]),
    source=Source("https://github.com/ggml-org/llama.cpp/pull/24882", "missing field id"),
    bad=[
        example("responses-session", {"/0/response/output/1/status": REMOVE}),
        example("responses-session", {"/0/response/output/1/id": REMOVE}),
    ],
    good=[example("responses-session"), example("responses-stream")],
    wires=("responses",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """A message and a call of a reply have an id and a status.

    Strict clients end the turn without them: Rig without the id of a call, Grok CLI without a status. To fix it, give
    each item an id of its own, and the status `completed` when it is done.
    """
    return [
        Fault(f"expected a text as {key}, got {item.get(key)!r}", at=("output", at))
        for at, item in objects(reply.value.get("output"))
        if item.get("type") in _KINDS
        for key in _KEYS
        if type(item.get(key)) is not str
    ]
