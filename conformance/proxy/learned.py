"""The secrets of requests, learned from each message once: an agent sends its whole history again and again."""

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from conformance.caches import ByteCache, digest
from conformance.secrets import learning
from conformance.wire.values import count_shared, rendered

LOOK_BACK: Final = 4
"""Of so many requests the messages are kept as they are: more than agents ask at once."""

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
        self._last: deque[tuple[list[Any], list[tuple[str, ...]]]] = deque(maxlen=LOOK_BACK)

    def of_request(self, sent: bytes, asked: dict[str, Any] | None) -> Iterator[str]:
        """Yield the secrets in the body of a request: those of messages that were seen before, too.

        `asked` is the body as an object, with the very messages of an earlier one where they are the same; None if it
        is none.
        """
        listed = [key for key in _LISTS if asked is not None and type(asked.get(key)) is list]
        if asked is None or len(sent) < _SHORT or len(listed) != 1:
            yield from learning.of_text(sent.decode("utf-8", "surrogateescape"))
            return
        (key,) = listed
        found = self._of_messages(asked[key])
        yield from dict.fromkeys(chain(self._of_part({**asked, key: []}), chain.from_iterable(found)))

    def _of_messages(self, messages: list[Any]) -> list[tuple[str, ...]]:
        """Return the secrets in each message."""
        same, found = 0, list[tuple[str, ...]]()
        for before, known in self._last:
            count = count_shared(before, messages)
            if count > same:
                same, found = count, known[:count]
        found += map(self._of_part, messages[same:])
        self._last.append((messages, found))
        return found

    def _of_part(self, part: Any) -> tuple[str, ...]:
        text = rendered(part)
        key = digest([text])
        known = self._found.find(key)
        if known is not None:
            return known[0]
        found = tuple(learning.of_text(text))
        self._found.keep(key, found, sum(map(len, found)))
        return found
