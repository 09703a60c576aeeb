from collections.abc import Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import as_object, objects

_PARTS = "/0/response/candidates/0/content/parts"


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: bool(_ids(reply.value)),
    source=Source("https://ai.google.dev/gemini-api/docs/function-calling", "always returns a unique `id`"),
    bad=[
        example(
            "gemini-session",
            {f"{_PARTS}/0/functionCall/id": "a", f"{_PARTS}/1/functionCall/id": "a"},
        ),
    ],
    good=[
        example("gemini-session", {f"{_PARTS}/0/functionCall/id": "a", f"{_PARTS}/1/functionCall/id": "b"}),
    ],
    wires=("gemini",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """The ids of the calls in a reply differ, where calls have ids.

    A result names its call by the id: two calls with one id get each other's results, and a call that comes twice is
    executed twice. To fix it, send each call once, with an id of its own.
    """
    ids = _ids(reply.value)
    first = {identity: at for at, identity in reversed(ids)}
    return [
        Fault(
            f"expected an id of its own, got {identity!r} as in part {first[identity]}",
            at=("candidates", 0, "content", "parts", at, "functionCall", "id"),
        )
        for at, identity in ids
        if first[identity] != at
    ]


def _ids(reply: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the ids of the calls of the first candidate, each with the position of its part."""
    candidates = [each for _, each in objects(reply.get("candidates"))]
    content = as_object(candidates[0].get("content")) if candidates else {}
    calls = [(at, as_object(part.get("functionCall"))) for at, part in objects(content.get("parts"))]
    return [(at, call["id"]) for at, call in calls if type(call.get("id")) is str]
