"""Cassettes: files of exchanges in the format of vcrpy, which replays them.

A cassette holds the body, the status and a few headers. Keys, cookies and everything else that a client or a host sends
never reach the file.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import orjson
import yaml

from conformance.errors import InvalidDocument
from conformance.transport import body as bodies
from conformance.transport.client import Client, WireRequest
from conformance.transport.interaction import RawInteraction
from conformance.transport.request_text import encoded
from conformance.urls import is_url
from conformance.wire.exchange import CUT

REQUEST_HEADERS = frozenset({"content-type"})
REPLY_HEADERS = frozenset({"content-type", "retry-after", "server", CUT})
START = "interactions:\n"
END = "version: 1\n"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one of libyaml, where PyYAML was built with it."""

_MEMBERS = (
    (("request", "method"), str, "a method"),
    (("request", "uri"), str, "a URL"),
    (("request", "headers"), dict, "headers"),
    (("request", "body"), (str, bytes, type(None)), "a body"),
    (("response", "status", "code"), int, "a status"),
    (("response", "status", "message"), str, "a reason phrase"),
    (("response", "headers"), dict, "headers"),
    (("response", "body", "string"), (str, bytes), "a body"),
)
"""The members of an interaction that a replay needs, their types, and their names in words."""

_REQUEST = frozenset({"method", "uri", "headers", "body"})

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@contextmanager
def replaying(path: Path) -> Iterator[None]:
    """Answer every request of a client from a cassette; raises InvalidDocument if it is broken or lacks one.

    vcrpy could do it too, but it imports every HTTP client that is installed, and copies a request for each comparison.
    That, and what httpx does to send nothing, would take a third of the time of a replay.
    """
    left = [*interactions(path)]

    def replayed(_: Client, sent: WireRequest, _seconds: float) -> RawInteraction:
        content, target = encoded(sent.body), urlsplit(sent.url).path
        found = next((at for at, each in enumerate(left) if _is_same(target, content, each["request"])), None)
        if found is None:
            raise InvalidDocument("does not hold the request that the suite sends; record it again", str(path))
        return _interaction(sent.url, content, _response(left.pop(found)["response"]))

    network = Client.answer
    Client.answer = replayed  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        Client.answer = network  # type: ignore[method-assign]


def interaction_text(kept: RawInteraction, hidden: Mapping[str, str]) -> str:
    """Return the text of one interaction of a cassette, in the format of vcrpy; it stands between START and END.

    `hidden` maps texts that a cassette must not hold, such as the folders of a machine, to what is written instead.
    """
    # Imported here because only a recording needs it, and it imports every HTTP client that is installed.
    from vcr.request import Request
    from vcr.serialize import serialize
    from vcr.serializers import yamlserializer

    request = _scrubbed_request(Request("POST", kept.url, kept.sent, dict(kept.sent_headers)))
    whole: str = serialize({"requests": [request], "responses": [_reply(kept, hidden)]}, yamlserializer)
    return whole.removeprefix(START).removesuffix(END)


def _reply(kept: RawInteraction, hidden: Mapping[str, str]) -> dict[str, Any]:
    """Return a reply as vcrpy has it, with the allowed headers."""
    headers: dict[str, list[str]] = {}
    for name, value in kept.headers:
        if name.lower() in REPLY_HEADERS:
            headers.setdefault(name.lower(), []).append(value)
    content = kept.content
    for text, replacement in hidden.items():
        content = content.replace(text.encode(), replacement.encode())
    return {
        "status": {"code": kept.status, "message": kept.reason},
        "headers": headers,
        "body": {"string": content},
    }


def interactions(path: Path) -> list[Any]:
    """Return the requests and replies of a cassette; raises InvalidDocument if it is broken."""
    try:
        value = yaml.load(path.read_text("utf-8"), _LOADER)  # noqa: S506 — it is a safe loader
    except FileNotFoundError:
        raise InvalidDocument("there is no such cassette; record it with --record, or use --live", str(path)) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise InvalidDocument(f"cannot be read as a cassette: {error.problem}", str(path), line) from None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InvalidDocument(f"cannot be read as a cassette: {' '.join(str(error).split())}", str(path)) from None
    for pointer, expected in _problems(value):
        raise InvalidDocument(f"cannot be read as a cassette: expected {expected}", str(path), None, pointer)
    return list(value["interactions"])


def _interaction(url: str, sent: bytes, reply: httpx.Response) -> RawInteraction:
    """Return a request and its recorded reply, which is read like one from the network."""
    reading = bodies.read(reply)
    try:
        # Nothing in it waits, because the body is there.
        reading.send(None)
    except StopIteration as ended:
        content, cut = ended.value
    headers = (*reply.headers.multi_items(), *([(CUT, cut)] if cut else []))
    return RawInteraction(url, (), sent, reply.status_code, reply.reason_phrase, headers, content)


def _response(recorded: Mapping[str, Any]) -> httpx.Response:
    message = recorded["status"]["message"]
    return httpx.Response(
        recorded["status"]["code"],
        headers=[
            (name, value)
            for name, values in recorded["headers"].items()
            for value in ([values] if isinstance(values, str) else values)
        ],
        # Not its content: a response that has it is closed, unlike one from the network.
        stream=httpx.ByteStream(_as_bytes(recorded["body"]["string"])),
        extensions={"reason_phrase": message.encode("ascii")} if message else None,
    )


def _as_bytes(body: str | bytes | None) -> bytes:
    return body.encode() if isinstance(body, str) else body or b""


def _problems(cassette: Any) -> Iterator[tuple[str, str]]:
    """Yield where the value of a cassette is not what a replay needs, and what is expected there."""
    interactions = cassette.get("interactions") if isinstance(cassette, dict) else None
    if not isinstance(interactions, list) or not interactions:
        yield "/interactions", "a list of interactions"
        return
    for number, each in enumerate(interactions):
        for names, kinds, expected in _MEMBERS:
            value = each
            for name in names:
                value = value.get(name) if isinstance(value, dict) else None
            if not isinstance(value, kinds):
                yield f"/interactions/{number}/{'/'.join(names)}", expected
                return
        yield from _contents_problems(each, f"/interactions/{number}")


def _contents_problems(interaction: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    """Yield what an interaction with all members holds that vcrpy or httpx cannot take."""
    if interaction["request"].keys() != _REQUEST:
        yield f"{place}/request", f"exactly {', '.join(sorted(_REQUEST))}"
    if not is_url(interaction["request"]["uri"]):
        yield f"{place}/request/uri", "a URL"
    if not interaction["response"]["status"]["message"].isascii():
        yield f"{place}/response/status/message", "a reason phrase in ASCII"
    for side in ("request", "response"):
        if not all([_is_header(name, values) for name, values in interaction[side]["headers"].items()]):
            yield f"{place}/{side}/headers", "a name and a list of values in ASCII for each header"


def _is_header(name: Any, values: Any) -> bool:
    listed = [values] if isinstance(values, str) else values
    return (
        isinstance(listed, list)
        and bool(listed)
        and all(isinstance(text, str) and text.isascii() for text in (name, *listed))
    )


def _is_same(path: str, sent: bytes, recorded: Mapping[str, Any]) -> bool:
    """Return True if two requests have the same method and the same body, whatever the order of its members.

    The last part of a path names the method. What is before it belongs to the address, which may be another one.
    """
    last = urlsplit(recorded["uri"]).path.rpartition("/")[2]
    if recorded["method"] != "POST" or path.rpartition("/")[2] != last:
        return False
    body = _as_bytes(recorded["body"])
    # Bodies of other lengths cannot differ in their order alone, and need not be parsed.
    return sent == body or (len(sent) == len(body) and _value(sent) == _value(body))


def _value(body: bytes) -> Any:
    """Return the JSON value of a body; the bytes if they are not JSON."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return body


def _scrubbed_request(request: Any) -> Any:
    """Keep the allowed headers; of the URL drop the user, the query and the port of a loopback address."""
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in REQUEST_HEADERS}
    parts = urlsplit(request.uri)
    host = "localhost" if parts.hostname in LOOPBACK else parts.netloc.rpartition("@")[2]
    request.uri = urlunsplit((parts.scheme, host, parts.path, "", ""))
    return request
