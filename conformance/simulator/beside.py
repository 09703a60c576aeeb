"""What clients ask a host for beside replies of the model: models, counts of tokens, compaction, and websockets."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

import orjson

from conformance import wires
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.simulator import compaction, wire_requests
from conformance.simulator.http import as_json, not_found, other_method
from conformance.simulator.responder import Responder
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.native import CHAT
from conformance.wires import Wire

_BYTES_PER_TOKEN: Final = 4
_NO_SOCKETS: Final = "this server has no websockets; send a POST request to the same path, over HTTP"


def answer_beside(path: str, request: HttpRequest, responder: Responder, wire: Wire | None = None) -> HttpReply | None:
    """Return the answer to a request that asks for no reply of the model; None if it is something else.

    `path` is that after the version. `wire`: the one whose clients ask; by default the request shows it.
    """
    headers = {name.lower(): value for name, value in request.headers.items()}
    if "websocket" in headers.get("upgrade", "").lower():
        return _without_sockets()
    if path in ("/models", "/models/") or (path.startswith("/models/") and ":" not in path):
        return _models(path, request, headers, responder, wire)
    if path == compaction.PATH and wire in (None, wires.by_name(compaction.WIRE)):
        return _compacted(request, responder)
    counts = [each for each in wires.load() if each.counting is not None and each.counting.fullmatch(path)]
    if not counts or (wire is not None and wire not in counts):
        return None
    return _count(counts[0], path, request, responder)


def _without_sockets() -> HttpReply:
    """Refuse a websocket with the status after which clients of Responses use HTTP."""
    error = {"message": _NO_SOCKETS, "type": "invalid_request_error", "param": None, "code": "websockets_not_supported"}
    return as_json(426, {"error": error})


def _models(
    path: str, request: HttpRequest, headers: Mapping[str, str], responder: Responder, wire: Wire | None
) -> HttpReply:
    if request.method not in ("GET", "HEAD"):
        return other_method(request.method, "GET, HEAD")
    asking = wire or next((each for each in wires.load() if each.asks(request.path, headers)), wires.by_name(CHAT))
    name = unquote(path.removeprefix("/models").strip("/"))
    if asking.listed is None or asking.described is None:
        return responder.model(name) if name else responder.models()
    names, owner = responder.model_names(), responder.profile.name
    if not name:
        return as_json(200, asking.listed(names, owner))
    if name in names:
        return as_json(200, asking.described(name, owner))
    return wire_requests.refused(asking, path, responder.unknown_model({"model": name}))


def _compacted(request: HttpRequest, responder: Responder) -> HttpReply:
    """Return the compacted input of a request, if the provider is known to have it."""
    profile = responder.profile.on(compaction.WIRE)
    if profile.at(profile.model).get(compaction.CLAIM) is not True:
        return not_found(f"{profile.title} is not known to serve {compaction.PATH}")
    if request.method != "POST":
        return other_method(request.method, "POST")
    on_wire = Responder(profile)
    body = _body(request, on_wire)
    if isinstance(body, HttpReply):
        return body
    return compaction.compacted(body) if body.get("model") else on_wire.invalid(body, "expected a model in the request")


def _count(wire: Wire, path: str, request: HttpRequest, responder: Responder) -> HttpReply:
    """Return about how many tokens a request has."""
    if request.method != "POST":
        return other_method(request.method, "POST")
    body = _body(request, responder)
    if isinstance(body, HttpReply):
        return wire_requests.refused(wire, path, body)
    return as_json(200, wire.counted(len(orjson.dumps(body)) // _BYTES_PER_TOKEN + 1))


def _body(request: HttpRequest, responder: Responder) -> dict[str, Any] | HttpReply:
    """Return the body of a request, or the refusal of one that is not a JSON object."""
    try:
        body: Any = parse_json(request.body, "request body")
    except InvalidDocument as error:
        return responder.malformed(error, request.body)
    return body if isinstance(body, dict) else responder.invalid({}, "expected a JSON object as the request body")
