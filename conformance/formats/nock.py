"""Recordings of nock for Node.js: a list of calls with `scope`, `path`, `body`, `status`, `response` and headers.

Source: https://github.com/nock/nock#recording and lib/recorder.js of nock 13 and 14. A packed or binary reply is
hexadecimal text, in one fragment or several. `rawHeaders` is a flat list up to nock 13, and an object since 14.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation
from conformance.formats.records import as_object


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a call that nock recorded."""
    return "scope" in value and "path" in value


def read_calls(calls: Sequence[Mapping[str, Any]], path: str) -> Iterator[Input]:
    """Yield the conversation of recorded calls."""
    yield from conversation((_interaction(call, f"/{number}") for number, call in enumerate(calls)), path, "nock")


def _interaction(call: Mapping[str, Any], pointer: str) -> Interaction:
    headers = call.get("rawHeaders") or call.get("headers")
    if isinstance(headers, list):
        pairs = zip(headers[::2], headers[1::2], strict=False)
        headers = [{"name": name, "value": value} for name, value in pairs]
    return Interaction(
        method=str(call.get("method", "")),
        url=f"{call.get('scope', '')}{call.get('path', '')}",
        request=_unhex(call.get("body")),
        status=call.get("status"),
        headers=as_object(headers) or headers,
        reply=_unhex(call.get("response")),
        pointer=pointer,
    )


def _unhex(recorded: Any) -> Any:
    """Return the bytes of a body that was recorded as hexadecimal text, in one fragment or several."""
    fragments = recorded if isinstance(recorded, list) else [recorded]
    if not fragments or not all(isinstance(item, str) and item for item in fragments):
        return recorded
    try:
        return bytes.fromhex("".join(fragments))
    except ValueError:
        return recorded
