"""Requests of Helicone, as `@helicone/export --include-body` and its query API write them.

An entry has `request_body` and `response_body` beside `response_status`, `request_created_at` and others. Helicone
adds the chunks of a stream as `streamed_data` to a reply that it puts together.

Source: https://docs.helicone.ai/tools/export and examples/export/typescript of github.com/Helicone/helicone
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import wires
from conformance.formats.bodies import reply_body, request_body
from conformance.formats.records import as_object, as_text, date_of, date_of_reply, status_of
from conformance.wire.exchange import Exchange, model_of

KIND: Final = "helicone"
RULES: Final = ()
NOTES: Final = ("holds no headers, and streams as one reply: the rules about those are not checked",)
_ADDED: Final = ("streamed_data", "streamed")
_STREAM: Final = ("stream", "stream_options")
_NO_BODY: Final = "skipped, an entry without bodies; export them with npx @helicone/export --include-body"


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an entry."""
    return "response_status" in value and ("request_id" in value or "response_id" in value or "request_body" in value)


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Exchange | str]:
    """Yield the exchange of an entry, or say why there is none."""
    sent = request_body(value.get("request_body") or None, path)
    if not isinstance(sent, Mapping) or not sent:
        yield _NO_BODY
        return
    got, streamed = reply_body(value.get("response_body"), {}, path)
    request: Any = {name: item for name, item in sent.items() if name not in _STREAM}
    response = {name: item for name, item in as_object(got).items() if name not in _ADDED}
    status, url = status_of(value.get("response_status")), as_text(value.get("target_url"))
    day = date_of(value.get("request_created_at")) or date_of_reply(response)
    found = Exchange.of_plain(request, response, status, streamed, url=url, model=model_of(request), date=day)
    is_chat = "messages" in sent and response.keys() & {"choices", "error"}
    if not wires.is_native(found) and not is_chat:
        yield "skipped, neither chat completions nor another wire that is known"
        return
    yield found
