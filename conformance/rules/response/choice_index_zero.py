from collections.abc import Iterable
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Reply
from conformance.wire.native import CHAT
from conformance.wire.values import as_object, objects
from conformance.wire.views import replies

_INDEX: Final = "/0/response/choices/0/index"


def _is_only_choice(reply: Reply, context: Context) -> bool:
    """Return whether the request asks for one choice; an unknown request does if the reply has one."""
    if reply.request is not None:
        asked = reply.request.get("n", as_object(reply.request.get("generationConfig")).get("candidateCount"))
        return asked is None or asked == 1
    return len(context.replies) == 1


@rule(
    Level.MUST,
    on=replies,
    harm=Harm.FORM,
    where=_is_only_choice,
    source=Source("https://github.com/microsoft/foundry-local/issues/263", "`index` must be `0` in every chunk"),
    bad=[
        example("plain", {_INDEX: 1}),
        example("stream-plain", {f"/0/response/{number}/choices/0/index": 1 for number in range(4)}),
        example("gemini-result", {"/0/response/candidates/0/index": 1}),
    ],
    good=[
        example("plain"),
        example("stream-plain"),
        example("plain", {"/0/request/n": 1}),
        example("gemini-result", {"/0/response/candidates/0/index": 0}),
    ],
    wires=(CHAT, "gemini"),
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The only choice of a reply has the index 0.

    Clients collect texts by index and read choice 0: under another number, an answer is not shown, and a number that
    changes splits one answer into several. To fix it, send `"index": 0` unless the request asks for more choices.
    """
    found = _first_other(reply, context)
    if found is None:
        return []
    place, index = found
    return [Fault(f"expected the index 0, because the request asks for one choice, got {index}", place=place)]


def _first_other(reply: Reply, context: Context) -> tuple[Place, int] | None:
    """Return the first index of a choice that is a number other than 0, with its place."""
    number, native = int(reply.place[0]), context.exchange.native
    if native is not None and native.events:
        return _of_events(number, "candidates", [event.value for event in native.events], None)
    if reply.streamed:
        (stream,) = context.part.streams
        wanted = reply.place[-1]
        return None if wanted == 0 else _of_events(number, "choices", stream.value.chunks, wanted)
    body: Any = context.exchange.response
    listed = body["choices"] if native is None else as_object(native.reply).get("candidates")
    # With several choices, it is their number that is wrong.
    index = as_object(listed[0]).get("index") if type(listed) is list and len(listed) == 1 else 0
    return ((*reply.place, "index"), index) if type(index) is int and index != 0 else None


def _of_events(number: Any, key: str, events: Iterable[Any], wanted: Any) -> tuple[Place, int] | None:
    """Return the first index other than 0 in the lists under a key of a stream's events, or the wanted one."""
    for at, event in enumerate(events):
        for position, choice in objects(as_object(event).get(key)):
            index = choice.get("index")
            if type(index) is int and index != 0 and wanted in (None, index):
                return (number, "response", at, key, position, "index"), index
    return None
