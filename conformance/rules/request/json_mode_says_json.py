from collections.abc import Mapping
from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.wire.elements import Body
from conformance.wire.native import CHAT
from conformance.wire.values import as_object, rendered
from conformance.wire.views import requests

_CLAIM = "request.json-word"
_TEXT = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}
_MODE = {"type": "json_object"}
_ASKED = {"/0/response": REMOVE}
_SAYING = {**_ASKED, "/0/request/messages/0/content": "Answer in JSON."}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/ultimatejimmy/xray.koplugin/issues/33", _TEXT),
    bad=[
        example("plain", {**_ASKED, "/0/request/response_format": _MODE}, _REFUSED),
        example("responses-request", {"/0/request/text": {"format": _MODE}}, _REFUSED),
    ],
    good=[
        example("plain", {**_ASKED, "/0/request/response_format": {"type": "text"}}, _REFUSED),
        example("plain", {**_SAYING, "/0/request/response_format": _MODE}, _REFUSED),
    ],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=(CHAT, "responses"),
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request for the JSON mode says the word JSON in its messages, if the provider asks for that.

    The mode only forbids other text, so a model that was not asked for JSON may never end. To fix it, say in a message
    that the answer is JSON, or send a schema.
    """
    body = body_as_sent(request, context)
    at, listed = _mode(body)
    if not at or "json" in rendered(listed).lower():
        return []
    return [Fault("expected the word JSON in a message, for the JSON mode, got none", at)]


def _mode(body: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Return where a request asks for the JSON mode, and its messages; no place if it does not."""
    if as_object(body.get("response_format")).get("type") == "json_object":
        return ("response_format",), body.get("messages")
    if as_object(as_object(body.get("text")).get("format")).get("type") == "json_object":
        return ("text", "format"), body.get("input")
    return (), None
