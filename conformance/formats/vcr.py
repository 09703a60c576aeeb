"""Cassettes: vcrpy, Ruby VCR, go-vcr and what pydantic-ai makes of them as YAML; the same shape, and nock, as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.documents import parse_yaml
from conformance.errors import Unrecognized
from conformance.formats.inputs import ACCEPTED, Input
from conformance.formats.interactions import Interaction, conversation

KEYS: Final = ("interactions", "http_interactions")
_BODIES: Final = ("parsed_body", "body", "content")
_STATUSES: Final = ("code", "status_code", "status")


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the conversation of a cassette in YAML."""
    document = parse_yaml(data, path, foreign=True)
    value = _object(document.value)
    if not any(isinstance(value.get(key), list) for key in KEYS):
        raise Unrecognized(f"{ACCEPTED}; got YAML without a list of `interactions`", path, document.line(""))
    yield from read_value(value, path, document.lines)


def read_value(value: Any, path: str, lines: Mapping[str, int] | None = None) -> Iterator[Input]:
    """Yield the conversation of a recording: a cassette, one interaction of it, or a list as nock for Node.js writes.

    `lines` are those of its pointers, where they are known.
    """
    if isinstance(value, list):
        items = _nock(value)
    elif "request" in value:
        items = iter([interaction(value, "", {})])
    else:
        key = next(key for key in KEYS if isinstance(value.get(key), list))
        items = (interaction(item, f"/{key}/{number}", lines or {}) for number, item in enumerate(value[key]))
    yield from conversation(items, path, "cassette")


def interaction(item: Any, pointer: str, lines: Mapping[str, int]) -> Interaction:
    """Return one interaction of a cassette."""
    whole = _object(item)
    request, response = _object(whole.get("request")), _object(whole.get("response"))
    return Interaction(
        method=str(request.get("method", "")),
        url=str(request.get("uri") or request.get("url") or ""),
        request=_first(request, _BODIES),
        status=_first(response, _STATUSES),
        headers=response.get("headers"),
        reply=_first(response, _BODIES),
        moment=whole.get("recorded_at"),
        line=lines.get(pointer),
        pointer=pointer,
    )


def _nock(items: Iterable[Mapping[str, Any]]) -> Iterator[Interaction]:
    for number, item in enumerate(items):
        raw = item.get("rawHeaders")
        listed = raw if isinstance(raw, list) else [part for pair in _object(raw).items() for part in pair]
        pairs = [("content-type", item.get("contentType", "")), *zip(listed[::2], listed[1::2], strict=False)]
        yield Interaction(
            method=str(item.get("method", "")),
            url=f"{item.get('scope', '')}{item.get('path', '')}",
            request=item.get("body"),
            status=item.get("status"),
            headers=[{"name": name, "value": value} for name, value in pairs],
            reply=_nock_reply(item.get("response")),
            pointer=f"/{number}",
        )


def _nock_reply(kept: Any) -> Any:
    """Return a reply that nock kept as hexadecimal text, in one piece or in several, as bytes."""
    pieces = kept if isinstance(kept, list) else [kept]
    if not pieces or not all(isinstance(piece, str) and piece for piece in pieces):
        return kept
    try:
        return bytes.fromhex("".join(pieces))
    except ValueError:
        return kept


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(holder: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((holder[key] for key in keys if holder.get(key) is not None), None)
