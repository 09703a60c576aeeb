"""Caches of functions, bounded by bytes: of what a peer sends, which may be megabytes, they keep only digests."""

import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, Generic, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

_DIGEST: Final = 16
_SHORT: Final = 128
_OVERHEAD: Final = 256
"""Bytes that an entry takes besides its value: the key, its digest and its places in two tables."""


class ByteCache(Generic[Result]):
    """The last results of a function, up to some bytes in all; safe to use from several threads."""

    def __init__(self, most: int) -> None:
        """Start with nothing; `most` is how many bytes the results may take together."""
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[Result, int]] = OrderedDict()
        self.size = 0

    def find(self, key: bytes) -> tuple[Result, int] | None:
        """Return the result of a key with its size; None if it is not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: bytes, result: Result, size: int) -> None:
        """Keep a result of so many bytes, and drop those that were used longest ago; too large a one is not kept."""
        size += _OVERHEAD
        if size > self._most:
            return
        with self._lock:
            _, before = self._kept.pop(key, (None, 0))
            self._kept[key] = result, size
            self.size += size - before
            while self.size > self._most:
                _, (_, dropped) = self._kept.popitem(last=False)
                self.size -= dropped


def remembered(
    most: int, size: Callable[[Any], int], weight: Callable[..., int] = lambda *_: 0
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return a decorator that remembers the results of a function of texts and bytes, up to `most` bytes in all.

    `size` returns the bytes of a result, and `weight` how many more it takes because of the arguments.
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        cache: ByteCache[Result] = ByteCache(most)

        @wraps(function)
        def answer(*given: Given.args, **named: Given.kwargs) -> Result:
            key = digest((*given, *named.values()))
            found = cache.find(key)
            if found is not None:
                return found[0]
            result = function(*given, **named)
            cache.keep(key, result, size(result) + weight(*given, **named))
            return result

        return answer

    return decorate


def digest(given: Sequence[Any]) -> bytes:
    """Return the digest of texts, bytes and None; other values, or the same bytes divided otherwise, have another.

    Of few bytes, that is these themselves.
    """
    # This version writes no references, so equal values have equal bytes.
    data = marshal.dumps((*given,), 2)
    if _DIGEST < len(data) <= _SHORT:
        return data
    # Imported here because a small check keeps nothing, and every start would pay for it.
    from hashlib import blake2b

    return blake2b(data, digest_size=_DIGEST).digest()
