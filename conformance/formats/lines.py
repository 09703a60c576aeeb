"""On which lines of a judged file its findings stand, where the file is one JSON value over many lines."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from conformance.documents.json_lines import lines_of
from conformance.formats import Input
from conformance.formats.bodies import unzip
from conformance.formats.streams import GZIP

MOST: Final = 4 * 1024 * 1024
"""Bytes of a file in which lines are looked for; findings in a larger one have none."""

_SHORTER: Final = {"request": "/0/request", "messages": "/0/request/messages", "response": "/0/response"}
"""By what a file was taken for: the part of a pointer into the conversation that leads to the file's own value."""


def lines(given: Input, pointers: Iterable[str]) -> Mapping[str, int]:
    """Return the line of each pointer into the conversation of an input; empty where that cannot be told.

    Nothing is told of lines of JSON Lines and of cassettes, whose exchanges have lines of their own, of a stream, of
    standard input, and of a file that is no regular one or has more than `MOST` bytes.
    """
    path = Path(given.path)
    if given.line is not None or given.lines or not path.is_file():
        return {}
    shorter = {"exchange": "/0", "exchanges": "", **_SHORTER}.get(given.kind)
    if shorter is None or path.stat().st_size > MOST:
        return {}
    data = path.read_bytes()
    data = unzip(data, given.path) if data.startswith(GZIP) else data
    text = data.decode("utf-8-sig")
    if len(text) > MOST:
        return {}
    longer = "/exchanges" if given.kind == "exchanges" and text.lstrip().startswith("{") else ""
    own = {at: longer + at.removeprefix(shorter) for at in pointers if at.startswith(shorter)}
    found = lines_of(text, own.values())
    return {at: found[there] for at, there in own.items()}
