"""Rule: parts are of kinds that the provider takes."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIMS = {
    "image_url": "request.image-parts",
    "input_audio": "request.audio-parts",
    "file": "request.file-parts",
}
_BORNE = (None, "accepted", "ignored", "unknown")
_REFUSED = {"status": 400, "message": "messages[{index}]: unknown variant `{kind}`, expected `text`"}
_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/paris.png"}}
_CONTENT = "/0/request/messages/1/content"


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: any(context.claims.get(name) not in _BORNE for name in _CLAIMS.values()),
    source=Source("https://github.com/zhukunpenglinyutong/jetbrains-cc-gui/issues/591"),
    bad=[
        example("plain", {_CONTENT: [_IMAGE]}, {"request.image-parts": _REFUSED}),
        example(
            "plain",
            {_CONTENT: [{"type": "file", "file": {"file_id": "file-1"}}]},
            {"request.file-parts": _REFUSED, "request.image-parts": "accepted"},
        ),
    ],
    good=[
        example("plain", claims={"request.image-parts": _REFUSED}),
        example("plain", {_CONTENT: [{"type": "text", "text": "Hello"}]}, {"request.image-parts": _REFUSED}),
    ],
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A user message holds only parts of kinds that the provider takes.

    Models that read text alone refuse images, sounds and files. To fix it, leave such parts out, say in words that
    something was there, or ask a model that reads them.
    """
    listed = request.value.get("messages")
    return [
        Fault(
            f"expected parts of kinds that the provider takes, got {part['type']}",
            at=("messages", number, "content", position),
            values={"kind": part["type"], "role": "user", "position": position, "model": request.exchange.model},
            claim=_CLAIMS[part["type"]],
        )
        for number, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict and type(message.get("content")) is list and message.get("role") == "user"
        for position, part in enumerate(message["content"])
        if type(part) is dict and _claim(part) and context.claims.get(_claim(part)) not in _BORNE
    ]


def _claim(part: dict[str, Any]) -> str:
    """Return the name of the claim about a part; empty where its type has none."""
    kind = part.get("type")
    return _CLAIMS.get(kind, "") if type(kind) is str else ""
