"""Cassettes: files of exchanges in the format of vcrpy, which replays them.

A cassette holds the body, the status and a few headers. Keys, cookies and everything else that a client or a host sends
never reach the file.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import vcr
import yaml
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.request import Request
from vcr.serialize import deserialize, serialize
from vcr.serializers import yamlserializer

from conformance.errors import InvalidDocument
from conformance.transport.interaction import RawInteraction
from conformance.urls import is_url
from conformance.wire.exchange import CUT

REQUEST_HEADERS = frozenset({"content-type"})
REPLY_HEADERS = frozenset({"content-type", "retry-after", "server", CUT})
START = "interactions:\n"
END = "version: 1\n"
_SAME_REQUEST = "request"
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
    """Answer every request of httpx from a cassette; raises InvalidDocument if it is broken or lacks one."""
    try:
        with _replayer().use_cassette(str(path)):
            yield
    except CannotOverwriteExistingCassetteException:
        raise InvalidDocument("does not hold the request that the suite sends; record it again", str(path)) from None


def interaction_text(kept: RawInteraction, hidden: Mapping[str, str]) -> str:
    """Return the text of one interaction of a cassette, in the format of vcrpy; it stands between START and END.

    `hidden` maps texts that a cassette must not hold, such as the folders of a machine, to what is written instead.
    """
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


def _replayer() -> vcr.VCR:
    replayer = vcr.VCR(record_mode="none", match_on=("method", _SAME_REQUEST), before_record_request=_scrubbed_request)
    replayer.register_matcher(_SAME_REQUEST, _is_same)
    replayer.register_persister(_CassetteReader)
    return replayer


class _CassetteReader:
    """Reads cassettes for vcrpy, which takes most broken ones for empty ones or raises whatever comes of them."""

    @staticmethod
    def load_cassette(path: str, serializer: Any) -> Any:  # noqa: ARG004 — vcrpy passes it by name
        """Return the requests and replies of a cassette; raises InvalidDocument if it is broken."""
        try:
            value = yamlserializer.deserialize(Path(path).read_text("utf-8"))
        except FileNotFoundError:
            raise InvalidDocument("there is no such cassette; record it with --record, or use --live", path) from None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark is not None else None
            raise InvalidDocument(f"cannot be read as a cassette: {error.problem}", path, line) from None
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            raise InvalidDocument(f"cannot be read as a cassette: {' '.join(str(error).split())}", path) from None
        for pointer, expected in _problems(value):
            raise InvalidDocument(f"cannot be read as a cassette: expected {expected}", path, None, pointer)
        return deserialize("", _Parsed(value))


class _Parsed:
    """The serializer of a cassette that is parsed already."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def deserialize(self, _: str) -> Any:
        """Return the value of the cassette."""
        return self._value


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


def _is_same(sent: Any, recorded: Any) -> bool:
    """Return True if two requests have the same method and bytes; vcrpy's own matcher prints how all others differ.

    The last part of a path names the method. What is before it belongs to the address, which may be another one.
    """
    is_method = urlsplit(sent.uri).path.rpartition("/")[2] == urlsplit(recorded.uri).path.rpartition("/")[2]
    return is_method and bytes(sent.body or b"") == bytes(recorded.body or b"")


def _scrubbed_request(request: Any) -> Any:
    """Keep the allowed headers; of the URL drop the user, the query and the port of a loopback address."""
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in REQUEST_HEADERS}
    parts = urlsplit(request.uri)
    host = "localhost" if parts.hostname in LOOPBACK else parts.netloc.rpartition("@")[2]
    request.uri = urlunsplit((parts.scheme, host, parts.path, "", ""))
    return request
