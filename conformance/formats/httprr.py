"""Traces of Go's httprr: two lengths on a line, then that many bytes of an HTTP/1 request and its reply.

Source: https://pkg.go.dev/golang.org/x/oscar/internal/httprr
"""

from collections.abc import Iterator
from typing import Final

from conformance.errors import InvalidDocument
from conformance.formats.inputs import Input
from conformance.formats.interactions import Interaction, conversation

MAGIC: Final = b"httprr trace v1\n"


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the conversation of a trace; raises InvalidDocument if its lengths do not match."""
    yield from conversation(_interactions(data, path), path, "cassette")


def _interactions(data: bytes, path: str) -> Iterator[Interaction]:
    at = len(MAGIC)
    while at < len(data):
        line = data.count(b"\n", 0, at) + 1
        lengths = data[at : at + 64].partition(b"\n")[0]
        numbers = [int(digits) for digits in lengths.split() if digits.isdigit()]
        start = at + len(lengths) + 1
        if len(numbers) != 2 or start + sum(numbers) > len(data):
            message = f"expected the lengths of the request and the reply that follow, got {lengths[:32]!r}"
            raise InvalidDocument(message, path, line)
        middle, at = start + numbers[0], start + sum(numbers)
        yield _interaction(data[start:middle], data[middle:at], line)


def _interaction(request: bytes, reply: bytes, line: int) -> Interaction:
    (first, _, body), (status, headers, answer) = _message(request), _message(reply)
    method, url = [*first.split(" "), "", ""][:2]
    code = [*status.split(" "), "", ""][1]
    return Interaction(method, url, body, code, headers, answer, line=line)


def _message(data: bytes) -> tuple[str, dict[str, str], bytes]:
    """Return the first line, the headers and the body of an HTTP message."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return first, {name: value.strip() for name, _, value in pairs}, body
