"""Recordings of httpmock for Rust: YAML documents, each of which has a request in `when` and a reply in `then`.

Source: https://docs.rs/httpmock/0.8.1/httpmock/ (record and playback)
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from conformance.documents import parse_yaml
from conformance.formats.bodies import decode_base64
from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation
from conformance.formats.records import as_object, as_text

_ENDS: Final = re.compile(rb"^---[ \t]*\r?\n", re.MULTILINE)


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the conversation of a recording, in the order of its documents."""
    yield from conversation(_interactions(data, path), path, "cassette")


def _interactions(data: bytes, path: str) -> Iterator[Interaction]:
    line = 1
    # Text of a body is indented, so that only the end of a document begins a line so.
    for part in _ENDS.split(data):
        if part.strip():
            # Blank lines before it keep the numbers of its lines in errors.
            whole = as_object(parse_yaml(b"\n" * (line - 1) + part, path, foreign=True).value)
            yield _interaction(whole, line, path)
        line += part.count(b"\n") + 1


def _interaction(whole: Any, line: int, path: str) -> Interaction:
    asked, replied = as_object(whole.get("when")), as_object(whole.get("then"))
    return Interaction(
        method=as_text(asked.get("method")),
        url=as_text(asked.get("path")),
        request=_body(asked, path),
        status=replied.get("status"),
        headers={
            as_text(as_object(each).get("name")): as_object(each).get("value") for each in replied.get("header") or []
        },
        reply=_body(replied, path),
        line=line,
    )


def _body(part: Any, path: str) -> Any:
    for key in ("body", "json_body"):
        if part.get(key) is not None:
            return part[key]
    return decode_base64(part["body_base64"], path) if isinstance(part.get("body_base64"), str) else None
