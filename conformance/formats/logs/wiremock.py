"""Files of WireMock: stub mappings, one or under `mappings`, and the journal of requests under `requests`.

A mapping has `request` (`method`; `url`, `urlPath` or a pattern; `bodyPatterns` with `equalToJson`) and `response`
(`status`, `headers`, and `body`, `jsonBody` or `base64Body`). An entry of the journal has what was sent: `request`
(`method`, `absoluteUrl`, `body`) and `response` (`status`, `body`).

Source: https://wiremock.org/docs/stubbing/, /docs/record-playback/ and /docs/verifying/
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import wires
from conformance.errors import InvalidDocument
from conformance.formats.bodies import decode_base64, reply_body, request_body
from conformance.formats.records import as_object, as_text, date_of, date_of_reply, flat_headers, status_of
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

KIND: Final = "wiremock"
RULES: Final = ()
NOTES: Final = ()
_URLS: Final = ("absoluteUrl", "url", "urlPath", "urlPattern", "urlPathPattern")
_OWN: Final = ("urlPath", "urlPattern", "urlPathPattern", "bodyPatterns")
_PATH: Final = "/chat/completions"


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a mapping, several, or a journal."""
    request, response = as_object(value.get("request")), as_object(value.get("response"))
    if any(key in request for key in _OWN) or (request and response.keys() & {"jsonBody", "base64Body"}):
        return True
    items = value.get("mappings", value.get("requests"))
    return isinstance(items, list) and any("request" in as_object(item) for item in items)


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Exchange | str]:
    """Yield the exchange of each mapping or entry that is on a wire that is known."""
    items = value.get("mappings", value.get("requests"))
    for item in items if isinstance(items, list) else [value]:
        request, response = as_object(as_object(item).get("request")), as_object(as_object(item).get("response"))
        url = next((as_text(request[key]) for key in _URLS if request.get(key)), "")
        is_chat = url.partition("?")[0].rstrip("/$").endswith(_PATH)
        found = _exchange(request, response, url, path) if is_chat else _native(request, response, url, path)
        if found is None:
            what = "neither chat completions nor another wire that is known"
            yield f"skipped, {what}: {request.get('method')} {url.partition('?')[0][:80]}"
        else:
            yield found


def _native(request: Mapping[str, Any], response: Mapping[str, Any], url: str, path: str) -> Exchange | None:
    """Return the exchange of another wire; None if it is on chat completions or cannot be read."""
    try:
        found = _exchange(request, response, url, path)
    except InvalidDocument:
        return None
    return None if other_api(found) or not wires.is_native(found) else found


def _exchange(request: Mapping[str, Any], response: Mapping[str, Any], url: str, path: str) -> Exchange:
    headers = flat_headers(response.get("headers"))
    sent = request_body(_sent(request), path)
    body, streamed = reply_body(_replied(response, path), headers, path)
    moment = date_of(headers.get("date")) or date_of(request.get("loggedDate")) or date_of_reply(body)
    status, model = status_of(response.get("status")), model_of(sent) or model_of(body)
    return Exchange.of_plain(sent, body, status, streamed, headers, url, model, moment)


def _sent(request: Mapping[str, Any]) -> Any:
    """Return the body that was sent, or the one that a mapping expects whole."""
    if request.get("body"):
        return request["body"]
    patterns = request.get("bodyPatterns")
    found = [as_object(item).get("equalToJson") for item in patterns] if isinstance(patterns, list) else []
    return next((body for body in found if body), None)


def _replied(response: Mapping[str, Any], path: str) -> Any:
    if isinstance(response.get("base64Body"), str):
        return decode_base64(response["base64Body"], path)
    return response["jsonBody"] if "jsonBody" in response else response.get("body")
