"""Logs of the Portkey gateway, as its export writes them: one object a line, with the columns that were asked for.

The columns read here are `request.body`, `response.body`, `response_status_code`, `request_url`, `ai_org`, `ai_model`
and `created_at`; a body is an object or JSON text.

Source: https://portkey.ai/docs/product/observability/logs-export
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.formats.bodies import reply_body, request_body
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of, date_of_reply, status_of
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

KIND: Final = "portkey"
RULES: Final = ()
NOTES: Final = ("bodies are as Portkey logs them: findings may be undone or caused by it, and headers are not logged",)
_NO_BODY: Final = "skipped, a log without bodies; request the columns request.body and response.body"


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a line of an export."""
    return "response_status_code" in value and ("ai_org" in value or "ai_model" in value)


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the exchange of a log, or say why there is none."""
    sent = request_body(_body(value, "request") or None, path)
    got, streamed = reply_body(_body(value, "response") or None, {}, path)
    if sent is None and got is None:
        yield _NO_BODY
        return
    status, url = status_of(value.get("response_status_code")), as_text(value.get("request_url"))
    day = date_of(value.get("created_at")) or date_of_reply(got)
    model = model_of(sent) or as_text(value.get("ai_model"))
    found = Exchange.of_plain(sent, got, status, streamed, url=url, model=model, date=day)
    outside = other_api(found)
    yield (
        f"skipped, neither chat completions nor another wire that is known: {outside}"
        if outside
        else Rebuilt(found, as_text(value.get("ai_org")))
    )


def _body(value: Mapping[str, Any], side: str) -> Any:
    """Return a body: its column is one key with a dot, or a key in an object."""
    return value.get(f"{side}.body", as_object(value.get(side)).get("body"))
