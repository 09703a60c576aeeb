"""The HTTP side of a simulated provider: the paths that it serves, and replies that need no script."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from conformance.transport.client import SIMULATOR
from conformance.transport.http import HttpReply
from conformance.wire.exchange import Exchange
from conformance.wire.plain import reply_body
from conformance.wires import Wire, load

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
TEXT_TYPE = "text/plain"
_VERSION: Final = re.compile(r"/v1(?:alpha|beta\d*)?(?=/)")
_SCENARIO: Final = "/s/"


def divided(path: str) -> tuple[str | None, str]:
    """Return the scenario that a path names, as it is written there, and the path after it and after the version.

    `/s/<scenario>/v1/models` gives that scenario and `/models`; the scenario is None if the path names none.
    """
    name = None
    if path.startswith(_SCENARIO):
        name, _, rest = path.removeprefix(_SCENARIO).partition("/")
        path = f"/{rest}"
    version = _VERSION.match(path)
    return name, path if version is None else path[version.end() :]


def wire_at(path: str) -> Wire | None:
    """Return the wire that the simulator plays at a path, without its version; None if there is none."""
    return next((each for each in load() if each.served.fullmatch(path)), None)


def to_exchange(body: Any, reply: HttpReply, model: str = "", url: str = "") -> Exchange:
    """Return the exchange of a request and its reply, as a client that uses HTTP would record it."""
    content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    kind = reply.headers["content-type"]
    streamed = kind == STREAM_TYPE or content[:5] == b"data:" or not isinstance(reply.body, bytes)
    response = content.decode() if streamed or kind == TEXT_TYPE else reply_body(content)
    return Exchange.of_plain(body, response, reply.status, streamed, reply.headers, url=url, model=model)


def parts_of(reply: HttpReply) -> Sequence[bytes]:
    """Return the parts in which a reply is sent: its body, or the chunks of a stream."""
    return (reply.body,) if isinstance(reply.body, bytes) else reply.body


def not_found(message: str) -> HttpReply:
    """Return the reply to an unknown path."""
    return as_json(404, {"error": {"message": message, "type": "not_found_error"}})


def other_method(method: str, allowed: str) -> HttpReply:
    """Return the reply to a method that a path does not serve: what it allows, as an answer to OPTIONS or an error."""
    allow = {"allow": f"{allowed}, OPTIONS"}
    if method == "OPTIONS":
        return HttpReply(204, b"", {"server": SIMULATOR, **allow})
    reply = as_json(
        405, {"error": {"message": f"expected {allowed}, got {method:.20}", "type": "invalid_request_error"}}
    )
    return replace(reply, headers={**reply.headers, **allow})


def as_json(status: int, body: Any) -> HttpReply:
    """Return a JSON reply."""
    return HttpReply(status, orjson.dumps(body), headers(JSON_TYPE))


def headers(content_type: str) -> dict[str, str]:
    """Return the headers of a reply, which mark it as simulated."""
    return {"content-type": content_type, "server": SIMULATOR}
