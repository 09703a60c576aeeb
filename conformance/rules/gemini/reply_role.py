from typing import Any

from conformance.documents.pointer import REMOVE, Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import as_object, objects

_ROLE = "/0/response/candidates/0/content/role"


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: bool(_contents(reply)),
    source=Source("https://github.com/brekkylab/ailoy/issues/425", "Role not specified"),
    bad=[
        example("gemini-session", {_ROLE: REMOVE}),
        example("gemini-stream", {"/0/response/1/candidates/0/content/role": REMOVE}),
    ],
    good=[example("gemini-session"), example("gemini-stream")],
    wires=("gemini",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """The content of a candidate has a role.

    Clients send the content back as it came, and a conversation needs the roles: ailoy ends its loop without one.
    To fix it, write `"role": "model"`.
    """
    number = reply.place[0]
    return [
        Fault("expected the role 'model', got none", place=(number, *place))
        for place, content in _contents(reply)
        if content.get("role") is None
    ]


def _contents(reply: NativeBody) -> list[tuple[Place, dict[str, Any]]]:
    """Return the contents that have parts, of a stream those of its events, each with its place."""
    bodies: list[tuple[Place, Any]] = [(("response", at), event.value) for at, event in enumerate(reply.native.events)]
    found = [
        ((*place, "candidates", at, "content"), as_object(candidate.get("content")))
        for place, body in bodies or [(("response",), reply.value)]
        for at, candidate in objects(as_object(body).get("candidates"))
    ]
    return [(place, dict(content)) for place, content in found if content.get("parts")]
