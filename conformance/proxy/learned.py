"""The secrets of requests, learned from each message once: an agent sends its whole history again and again."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import orjson

from conformance.caches import ByteCache, digest
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.secrets import learning

MAX_BYTES: Final = 1 << 20
"""What is remembered of the messages that were used last: of 4,096, if they hold nothing."""

_LISTS: Final = ("messages", "input", "contents")
_SHORT: Final = 8192
"""A shorter body is read whole: most of it is no history."""


class LearnedTexts:
    """What the messages of the last requests hold that is secret."""

    def __init__(self) -> None:
        """Begin without any."""
        self._found: ByteCache[tuple[str, ...]] = ByteCache(MAX_BYTES)

    def of_body(self, text: str) -> Iterator[str]:
        """Yield the secrets in the text of a request: those of messages that were seen before, too."""
        parts = None if len(text) < _SHORT else _parts(text)
        if parts is None:
            yield from learning.of_text(text)
        else:
            yield from dict.fromkeys(chain.from_iterable(map(self._of_part, parts)))

    def _of_part(self, part: bytes) -> tuple[str, ...]:
        key = digest([part])
        known = self._found.find(key)
        if known is not None:
            return known[0]
        found = tuple(learning.of_text(part.decode()))
        self._found.keep(key, found, sum(map(len, found)))
        return found


def _parts(text: str) -> list[bytes] | None:
    """Return a request without its messages, and each of them; None for anything else, which is read as a text.

    A key that occurs twice would be lost, so such a text is not divided.
    """
    try:
        body: Any = parse_json(text)
    except InvalidDocument:
        return None
    listed = [key for key in _LISTS if type(body) is dict and type(body.get(key)) is list]
    if len(listed) != 1 or not all(type(each) is dict for each in body[listed[0]]):
        return None
    return [orjson.dumps({**body, listed[0]: []}), *map(orjson.dumps, body[listed[0]])]
