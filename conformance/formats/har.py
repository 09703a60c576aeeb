"""HTTP archives (HAR 1.2), as written by browsers, proxies and Polly.JS.

Source: http://www.softwareishard.com/blog/har-12-spec/
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.formats.bodies import decode_base64
from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation
from conformance.formats.records import as_object


def read_entries(entries: Sequence[Any], path: str) -> Iterator[Input]:
    """Yield the conversation of an archive's entries, in their order."""
    yield from conversation((_interaction(entry, number, path) for number, entry in enumerate(entries)), path, "har")


def _interaction(entry: Any, number: int, path: str) -> Interaction:
    whole = as_object(entry)
    request, response = as_object(whole.get("request")), as_object(whole.get("response"))
    return Interaction(
        method=str(request.get("method", "")),
        url=str(request.get("url", "")),
        request=as_object(request.get("postData")).get("text"),
        status=response.get("status"),
        headers=response.get("headers"),
        reply=_content(as_object(response.get("content")), path),
        moment=whole.get("startedDateTime"),
        pointer=f"/log/entries/{number}",
    )


def _content(content: Mapping[str, Any], path: str) -> Any:
    text = content.get("text")
    # HAR names the encoding only if the text is not as it was received.
    if content.get("encoding") != "base64" or not isinstance(text, str):
        return text
    # Polly.JS writes a list of fragments, each of them base64, as the text.
    fragments = _fragments(text) if text.startswith("[") else [text]
    try:
        return b"".join(decode_base64(fragment, path) for fragment in fragments)
    except InvalidDocument:
        return text


def _fragments(text: str) -> list[str]:
    try:
        fragments = parse_json(text)
    except InvalidDocument:
        return [text]
    return [item for item in fragments if isinstance(item, str)] if isinstance(fragments, list) else [text]
