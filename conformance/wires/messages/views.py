"""Where the rules of Messages look, beside the views of all native wires."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.native_views import in_messages
from conformance.wire.values import objects, rendered
from conformance.wire.views import Side, View
from conformance.wires.messages import NAME

_THINKING: Final = ("thinking", "redacted_thinking")
_BOUND: Final = ("system", "tools")


class BoundBlock(NamedTuple):
    """A signed thinking block of an earlier reply that a request sends back.

    `changed` is the first part of the request before it that is not as it was when the reply was made; None if all is.
    """

    place: Place
    value: dict[str, Any]
    changed: Place | None
    native: Native


class _BoundBlocks:
    """Finds the thinking blocks that come back, each compared with the request that it was the reply to."""

    def __init__(self) -> None:
        self._prefixes = _Prefixes()
        self._answered: dict[str, int] = {}

    def add(self, index: Index, number: int) -> list[BoundBlock]:
        native = index.conversation[number].native
        if native is None or native.protocol != NAME or type(native.request) is not dict:
            return []
        prefixes, found = self._prefixes, []
        prefixes.requests[number] = native.request
        for position, block_position, block in _signed(index, number):
            before = self._answered.get(str(block.get("signature") or block.get("data")))
            if before is not None:
                place: Place = (number, "request", "messages", position, "content", block_position)
                changed = _changed(number, prefixes.of(before), prefixes.of(number), position)
                found.append(BoundBlock(place, dict(block), changed, native))
        for _, block in objects((native.reply or {}).get("content")):
            if block.get("type") in _THINKING and (block.get("signature") or block.get("data")):
                self._answered[str(block.get("signature") or block.get("data"))] = number
        return found


def _bound_blocks(index: Index, number: int) -> Sequence[BoundBlock]:
    return index.grown(_BoundBlocks, number)


class _Prefixes:
    """What binds thinking, as the digest of each part, so that a long session costs no more than its bytes.

    `requests`: the requests by the number of their exchange. Few have thinking, so a prefix is made when it is needed.
    """

    def __init__(self) -> None:
        self.requests: dict[int, Mapping[str, Any]] = {}
        self._made: dict[int, list[bytes]] = {}

    def of(self, number: int) -> list[bytes]:
        """Return the prefix of a request."""
        if number not in self._made:
            self._made[number] = _prefix(self.requests[number])
        return self._made[number]


def _changed(number: int, before: Sequence[bytes], now: Sequence[bytes], position: int) -> Place | None:
    """Return the first part of a prefix that changed; a block binds what stands before its message."""
    for at, digest in enumerate(before):
        if at >= len(_BOUND) + position:
            return None
        if at >= len(now) or now[at] != digest:
            names: Place = (_BOUND[at],) if at < len(_BOUND) else ("messages", at - len(_BOUND))
            return (number, "request", *names)
    return None


def _prefix(body: Mapping[str, Any]) -> list[bytes]:
    """Return the digests of what binds thinking: system, tools, and each message without its thinking."""
    # Imported here because it loads OpenSSL, and only requests with thinking need it.
    from hashlib import blake2b

    messages = body.get("messages")
    spelled = [_spelled(each) for each in (messages if type(messages) is list else ())]
    listed = [*(body.get(key) for key in _BOUND), *spelled]
    return [blake2b(_bytes(part), digest_size=16).digest() for part in listed]


def _spelled(message: Any) -> Any:
    """Return a message with its content as blocks; a text is short for one block."""
    if type(message) is not dict or type(message.get("content")) is not str:
        return message
    return {**message, "content": [{"type": "text", "text": message["content"]}]}


def _bytes(part: Any) -> bytes:
    return rendered(_bare(part), sort=True).encode()


def _bare(value: Any) -> Any:
    """Return a value without what may change: cache marks, and thinking, which may be cut from the front."""
    if type(value) is dict:
        return {key: _bare(each) for key, each in value.items() if key != "cache_control"}
    if type(value) is list:
        return [_bare(each) for each in value if not (type(each) is dict and each.get("type") in _THINKING)]
    return value


def _signed(index: Index, number: int) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    for position, blocks in in_messages(index, number, _thinking_blocks):
        for block_position, block in blocks:
            yield position, block_position, block


def _thinking_blocks(message: Any) -> list[tuple[int, Mapping[str, Any]]]:
    return [
        each
        for each in objects(message.get("content") if type(message) is dict else ())
        if each[1].get("type") in _THINKING
    ]


bound_blocks: Final = View("thinking block that is sent back", Side.CLIENT, _bound_blocks)
