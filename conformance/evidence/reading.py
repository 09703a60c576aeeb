"""The exchanges in the content of a public file, numbered."""

from collections.abc import Iterator
from typing import NamedTuple

from conformance.errors import InvalidDocument
from conformance.formats import Input, read
from conformance.formats.sse import UNFRAMED, UNNAMED
from conformance.wire.exchange import Exchange


class Numbered(NamedTuple):
    """An exchange, and its number (0-based) among the interactions of its file.

    `unframed`: only the chunks of its stream were recorded.
    """

    number: int
    exchange: Exchange
    unframed: bool = False


def exchanges(data: bytes, name: str) -> tuple[Numbered, ...]:
    """Return the exchanges in the content of a file, of any wire, without interactions that cannot be read.

    Raises InvalidDocument, with the first problem, if none of them can be read.
    """
    found: list[Numbered] = []
    problems: list[InvalidDocument] = []
    for given in read(data, name):
        problems += [given.problem] if given.problem is not None else []
        found += _numbered(given, len(found))
    if problems and not found:
        raise problems[0]
    return tuple(found)


def _numbered(given: Input, first: int) -> Iterator[Numbered]:
    known = given.numbers or range(first, first + len(given.conversation))
    for number, exchange in zip(known, given.conversation, strict=True):
        yield Numbered(number, exchange, not {UNFRAMED, UNNAMED}.isdisjoint(given.notes))
