"""HTTP archives (HAR 1.2), as browsers, proxies and Polly.JS write them.

Source: http://www.softwareishard.com/blog/har-12-spec/
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.formats.bodies import from_base64
from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation


def read_entries(entries: Sequence[Any], path: str) -> Iterator[Input]:
    """Yield the conversation of the entries of an archive, in their order."""
    yield from conversation((_interaction(entry, number, path) for number, entry in enumerate(entries)), path, "har")


def _interaction(entry: Any, number: int, path: str) -> Interaction:
    whole = _object(entry)
    request, response = _object(whole.get("request")), _object(whole.get("response"))
    return Interaction(
        method=str(request.get("method", "")),
        url=str(request.get("url", "")),
        request=_object(request.get("postData")).get("text"),
        status=response.get("status"),
        headers=response.get("headers"),
        reply=_content(_object(response.get("content")), path),
        moment=whole.get("startedDateTime"),
        pointer=f"/log/entries/{number}",
    )


def _content(content: Mapping[str, Any], path: str) -> Any:
    text = content.get("text")
    if content.get("encoding") != "base64" or not isinstance(text, str):
        return text
    # Polly.JS keeps a list of pieces, each base64 by itself, as the text.
    pieces = _pieces(text) if text.startswith("[") else [text]
    try:
        return b"".join(from_base64(piece, path) for piece in pieces)
    except InvalidDocument:
        return text


def _pieces(text: str) -> list[str]:
    try:
        pieces = parse_json(text)
    except InvalidDocument:
        return [text]
    return [piece for piece in pieces if isinstance(piece, str)] if isinstance(pieces, list) else [text]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
