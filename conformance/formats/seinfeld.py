"""Cassettes of seinfeld for Node.js, Braintrust's: `entries` with `request` and `response`, whose bodies have a `kind`.

A body is `json`, `base64` or `text` with a `value`, `sse` with `chunks`, `empty`, or `binary`, in another file.

Source: dev-packages/seinfeld/src/format/v1.ts of https://github.com/braintrustdata/braintrust-sdk-javascript
"""

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.formats.bodies import decode_base64
from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation
from conformance.formats.records import as_object, as_text


def read_entries(entries: Sequence[Any], path: str) -> Iterator[Input]:
    """Yield the conversation of a cassette's entries, in their order."""
    yield from conversation(
        (_interaction(entry, number, path) for number, entry in enumerate(entries)), path, "cassette"
    )


def _interaction(entry: Any, number: int, path: str) -> Interaction:
    whole = as_object(entry)
    request, response = as_object(whole.get("request")), as_object(whole.get("response"))
    return Interaction(
        method=as_text(request.get("method")),
        url=as_text(request.get("url")),
        request=_body(request.get("body"), path),
        status=response.get("status"),
        headers=response.get("headers"),
        reply=_body(response.get("body"), path),
        moment=whole.get("recordedAt"),
        pointer=f"/entries/{number}",
    )


def _body(recorded: Any, path: str) -> Any:
    body = as_object(recorded)
    if isinstance(body.get("chunks"), list):
        return "".join(map(as_text, body["chunks"]))
    if body.get("kind") == "base64" and isinstance(body.get("value"), str):
        return decode_base64(body["value"], path)
    return body.get("value")
