"""What a simulated server of Responses keeps: its last replies, with the sessions that they belong to.

A server checks what comes back against what it sent. It finds the reply that a request continues by
`previous_response_id`, or by the ids and the encrypted content of the items in the request. Only so many replies are
kept; what was dropped is not checked any more.
"""

import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from conformance.wire.exchange import Exchange, model_of
from conformance.wire.values import objects

MAX_REPLIES: Final = 512
MAX_BYTES: Final = 16 * 1024 * 1024
"""Bytes of what is kept, packed: a request of megabytes, which mostly repeats itself, packs to a tenth."""

MAX_SESSION: Final = 32
MAX_SESSION_BYTES: Final = 4 * 1024 * 1024
"""Of the session that a request continues, so many replies are looked at, with so many bytes."""

_FAST: Final = 1
_LEAST_PACKED: Final = 8 * 1024
"""Up to so many bytes an exchange is kept as it is: packing one takes longer than making it."""

_ITEM_KEYS: Final = ("id", "encrypted_content", "call_id")
_MAX_SIZE: Final = 4 * 1024 * 1024
"""A larger exchange is not kept."""


class Kept(NamedTuple):
    """A reply that was sent.

    `url` and `request`: what it replied to. `reply`: its body, also if it was streamed; `events`: the stream, empty if
    there was none; all three are packed if they are large. `unpacked`: their bytes before. `keys`: what tells its items
    from others. `parent`: the id of the reply that its request continued; empty if it began a session. `stored`:
    whether a client may refer to it. `size`: how much it takes, in bytes.
    """

    url: str
    request: bytes
    reply: bytes
    events: bytes
    unpacked: int
    keys: tuple[tuple[str, str], ...]
    parent: str
    stored: bool
    size: int

    @property
    def body(self) -> Any:
        """Return the body of the reply."""
        return orjson.loads(self._unpacked(self.reply))

    def _unpacked(self, kept: bytes) -> bytes:
        return zlib.decompress(kept) if self.unpacked > _LEAST_PACKED else kept

    def exchange(self) -> Exchange:
        """Return the exchange as it was on its own wire."""
        unpack = self._unpacked
        body = orjson.loads(unpack(self.request))
        events = unpack(self.events).decode()
        response = events or orjson.loads(unpack(self.reply))
        return Exchange.of_plain(body, response, 200, bool(events), url=self.url, model=model_of(body))


class ReplyStore:
    """The last replies of a server, by their ids; safe to use from several threads."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.Lock()
        self._replies: OrderedDict[str, Kept] = OrderedDict()
        self._owners: dict[tuple[str, str], str] = {}
        self._bytes = 0
        self._is_whole = True

    def add(self, url: str, request: Any, content: bytes, events: bytes, parent: str) -> None:
        """Keep a reply, and drop the oldest ones if there are too many.

        `content` is its body, also if it was streamed, and `events` the stream, if it was one.
        """
        whole, reply = [orjson.dumps(request), content, events], orjson.loads(content)
        unpacked = sum(map(len, whole))
        asked, said, stream = whole if unpacked <= _LEAST_PACKED else [zlib.compress(each, _FAST) for each in whole]
        keys = tuple(_keys(reply.get("output")))
        size = sum(map(len, (url, asked, said, stream, *[text for key in keys for text in key])))
        is_stored = reply.get("store") is not False
        self._put(str(reply["id"]), Kept(url, asked, said, stream, unpacked, keys, parent, is_stored, size))

    def _put(self, identity: str, kept: Kept) -> None:
        with self._lock:
            if kept.unpacked > _MAX_SIZE:
                self._is_whole = False
                return
            # Replies are reproducible, so a repeated request has the id of the first one: it becomes the newest.
            self._drop(identity)
            self._replies[identity] = kept
            self._bytes += kept.size
            self._owners |= dict.fromkeys(kept.keys, identity)
            # Once something was dropped, an unknown blob may be of what was dropped.
            while len(self._replies) > MAX_REPLIES or self._bytes > MAX_BYTES:
                self._drop(next(iter(self._replies)))
                self._is_whole = False

    def has(self, identity: str) -> bool:
        """Return True if a client may refer to a reply by that id."""
        with self._lock:
            kept = self._replies.get(identity)
            return kept is not None and kept.stored

    def stored(self, identity: str) -> Any:
        """Return the body of a reply that a client may refer to; None if there is none by that id."""
        with self._lock:
            kept = self._replies.get(identity)
        return kept.body if kept is not None and kept.stored else None

    def delete(self, identity: str) -> bool:
        """Delete a reply that a client may refer to; return whether there was one."""
        if not self.has(identity):
            return False
        with self._lock:
            self._drop(identity)
        return True

    def parent(self, body: Mapping[str, Any], *, by_id: bool) -> str:
        """Return the id of the reply that a request continues; empty if it continues none that is kept.

        `by_id`: whether `previous_response_id` counts. The last item that came from a reply tells it otherwise.
        """
        previous = body.get("previous_response_id") if by_id else None
        with self._lock:
            if type(previous) is str and previous:
                return previous if previous in self._replies else ""
            given = body.get("input")
            keys = _keys(given[::-1] if type(given) is list else None)
            return next((self._owners[key] for key in keys if key in self._owners), "")

    def session(self, identity: str) -> list[Exchange]:
        """Return the exchanges that led to a reply, that of the reply last, as they were on their own wire."""
        found: list[Kept] = []
        with self._lock:
            while identity in self._replies and len(found) < MAX_SESSION:
                found.append(self._replies[identity])
                identity = found[-1].parent
                if sum([kept.unpacked for kept in found]) > MAX_SESSION_BYTES:
                    break
        return [kept.exchange() for kept in reversed(found)]

    def unknown_blobs(self, items: Any) -> list[int]:
        """Return the positions of items whose encrypted content is from elsewhere; none once a reply was dropped.

        What comes with the id of an item that is kept is not from elsewhere, even if it was changed.
        """
        with self._lock:
            blobs = {number: item for number, item in objects(items) if item.get("encrypted_content")}
            return [number for number, item in blobs.items() if self._is_whole and not self._knows(item)]

    def _knows(self, item: Mapping[str, Any]) -> bool:
        return any((key, item[key]) in self._owners for key in _ITEM_KEYS if type(item.get(key)) is str)

    def _drop(self, identity: str) -> None:
        kept = self._replies.pop(identity, None)
        if kept is not None:
            self._bytes -= kept.size
            for key in kept.keys:
                # A later reply may have an item with the same key, such as a call with an id that is used again.
                if self._owners.get(key) == identity:
                    del self._owners[key]


def _keys(items: Any) -> Iterator[tuple[str, str]]:
    """Yield what distinguishes the items of a reply from all others."""
    for _, item in objects(items):
        for key in _ITEM_KEYS:
            if type(item.get(key)) is str and item[key]:
                yield key, item[key]
