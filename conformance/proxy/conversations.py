"""Which exchanges belong to one conversation: those whose requests send back what an earlier reply said.

A request continues a conversation if it names its last response or sends one of its replies back after the same
beginning. A header that the user names decides instead, where a request has it. Unrelated sessions that begin with the
same words stay apart: a request without any assistant message begins a conversation, unless it repeats a failed one.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import takewhile
from typing import Any, Final, TypeAlias

import orjson

from conformance.judge import Session
from conformance.wire.elements import Reply
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.text import content_text
from conformance.wires import Translator, translate

MAX_BYTES: Final = 8 * 1024 * 1024
"""How many bytes of its last exchanges a conversation holds: what is older is not compared with any more."""

MAX_OPEN: Final = 256
MAX_OPEN_BYTES: Final = 32 * 1024 * 1024
"""How many conversations are kept, and the bytes of their sessions; the one that has waited longest is ended first."""

_LOOK_BACK: Final = 4
"""In how many assistant messages of a request, from the last, to look for a known reply."""

_HEAD: Final = 4096
_RESPONSE_ID: Final = re.compile(r'"id": ?"(resp_[\w-]+)"')

Key: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class Conversation:
    """The exchanges of one session, as far as they are held.

    `session`: judges them; None before the first one is judged. `seen`: the findings that were reported. `size`: how
    many bytes the session held when the last exchange was kept.
    """

    tap: int
    number: int
    session: Session | None = None
    seen: set[tuple[str, ...]] = field(default_factory=set)
    keys: list[Key] = field(default_factory=list)
    size: int = 0

    @property
    def name(self) -> str:
        """The name in reports, and of its cassette."""
        return f"conversation-{self.number:04}"


class Grouping:
    """The conversations that are open; `ended` gets each one that is forgotten."""

    def __init__(self, first: int = 1) -> None:
        """Begin to number conversations with `first`."""
        self._open: OrderedDict[int, Conversation] = OrderedDict()
        self._by_key: dict[Key, Conversation] = {}
        self._translate = Translator(apart=True)
        self._next = first
        self._size = 0

    def find(self, tap: int, exchange: Exchange, named: str = "") -> Conversation:
        """Return the conversation that an exchange belongs to; `named` is the value of the header."""
        plain = self._translate(exchange)
        for key in [("header", named)] if named else _sought(plain, exchange):
            found = self._by_key.get((str(tap), *key))
            if found is not None:
                break
        else:
            found = Conversation(tap, self._next)
            self._next += 1
            self._open[found.number] = found
        self._open.move_to_end(found.number)
        return found

    def keep(self, conversation: Conversation, exchange: Exchange, named: str = "") -> None:
        """Remember by what later requests find a conversation, after its session judged an exchange."""
        session = conversation.session
        if session is None:
            return
        self._size += session.size - conversation.size
        conversation.size = session.size
        for key in [("header", named)] if named else _offered(session, exchange):
            placed = (str(conversation.tap), *key)
            self._by_key[placed] = conversation
            conversation.keys.append(placed)

    def overdue(self) -> Iterator[Conversation]:
        """Yield, and forget, the conversations beyond the bounds."""
        while len(self._open) > MAX_OPEN or (self._size > MAX_OPEN_BYTES and len(self._open) > 1):
            _, oldest = self._open.popitem(last=False)
            self._size -= oldest.size
            for key in oldest.keys:
                if self._by_key.get(key) is oldest:
                    del self._by_key[key]
            yield oldest

    def rest(self) -> Sequence[Conversation]:
        """Return the conversations that are open."""
        return tuple(self._open.values())


def _sought(exchange: Exchange, native: Exchange) -> Iterator[Key]:
    """Yield the keys by which a request finds its conversation, the surest first."""
    if isinstance(native.request, Mapping) and isinstance(named := native.request.get("previous_response_id"), str):
        yield "response", named
    if name := _conversation_id(exchange, native):
        yield "conversation", name
    messages = _messages(exchange)
    if messages is None:
        return
    opening = _opening(messages)
    said = [each for each in messages if isinstance(each, Mapping) and each.get("role") == "assistant"]
    for message in reversed(said[-_LOOK_BACK:]):
        for sign in _signs(message):
            yield "reply", opening, sign
    yield "failed", _digest(messages)
    if said:
        yield "opening", opening


def _offered(session: Session, native: Exchange) -> Iterator[Key]:
    """Yield the keys by which later requests find the conversation of an exchange, the last one of a session."""
    exchange = session.last
    messages = _messages(exchange) or []
    opening = _opening(messages)
    if (exchange.status or 200) >= 400:
        yield "failed", _digest(messages)
        return
    yield "opening", opening
    if name := _response_id(native.response):
        yield "response", name
    if name := _conversation_id(exchange, native):
        yield "conversation", name
    for reply in session.replies:
        for sign in _signs(reply.message):
            yield "reply", opening, sign


def _conversation_id(exchange: Exchange, native: Exchange) -> str:
    """Return the id of the conversation that the server of Responses holds; empty if a request names none."""
    if exchange.native is None or not isinstance(native.request, Mapping):
        return ""
    held = native.request.get("conversation")
    name = held.get("id") if isinstance(held, Mapping) else held
    return name if isinstance(name, str) else ""


def _response_id(response: Any) -> str:
    """Return the id by which a later request may name a reply; in a stream, its first events have it."""
    if isinstance(response, str):
        found = _RESPONSE_ID.search(response[:_HEAD])
        return found[1] if found else ""
    name = response.get("id") if isinstance(response, Mapping) else None
    return name if isinstance(name, str) else ""


def replies(exchange: Exchange) -> Sequence[Reply]:
    """Return the assistant messages of a reply, plain or assembled from its stream."""
    return Index(translate((exchange,))).replies


def _messages(exchange: Exchange) -> list[Any] | None:
    body = exchange.request
    messages = body.get("messages") if isinstance(body, Mapping) else None
    return messages if isinstance(messages, list) else None


def _signs(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield what tells an assistant message from others: its calls, and its text."""
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        yield _digest([_call(each) for each in calls])
    if text := content_text(message.get("content")).strip():
        yield _digest(text)


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return [call.get("id") if isinstance(call, Mapping) else None, name]


def _opening(messages: Sequence[Any]) -> str:
    """Return a digest of what the user said before the first reply; clients change system messages as they go."""
    first = takewhile(lambda each: not (isinstance(each, Mapping) and each.get("role") == "assistant"), messages)
    texts = [content_text(each.get("content")) for each in first if isinstance(each, Mapping) and _is_user(each)]
    return _digest(texts)


def _is_user(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user"


def _digest(value: Any) -> str:
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A text that was not decoded from bytes may contain half of a surrogate pair.
        data = repr(value).encode(errors="backslashreplace")
    return blake2b(data, digest_size=16).hexdigest()
