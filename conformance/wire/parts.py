"""The elements of one exchange, and how its request continues an earlier one: which of its messages were there before.

An agent sends its whole history each time. A part knows the earlier exchange whose request begins with the same
messages, so that what is known of these needs not be found again.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import orjson

from conformance.documents.pointer import Place
from conformance.wire.assemble import assemble
from conformance.wire.elements import Body, Call, Reply, Streamed, Usage, calls_of
from conformance.wire.exchange import Exchange
from conformance.wire.keys import key_of
from conformance.wire.lazy import lazy
from conformance.wire.plain import is_foreign
from conformance.wire.sent import SentElements, last_assistant, last_user
from conformance.wire.sse import read
from conformance.wire.values import count_shared

LOOK_BACK: Final = 8
"""How many exchanges back a request may continue: more than sessions are played at once."""
_BYTES_PER_PLACE: Final = 64
"""What each message of each request takes, however often it is repeated: its places in lists and tables."""
_LISTS: Final = ("messages", "input", "contents")


class SentIds:
    """The ids of the calls of a request: the first message that has each, by its key, and whether any comes again."""

    __slots__ = ("first", "repeats", "strings")

    def __init__(self, first: dict[Any, int], strings: set[str], *, repeats: bool) -> None:
        self.first, self.strings, self.repeats = first, strings, repeats

    def add(self, piece: SentElements) -> "SentIds":
        """Return these and the ids of further messages."""
        if not piece.turns:
            return self
        first, strings, repeats = dict(self.first), set(self.strings), self.repeats
        for turn in piece.turns:
            for each in turn.ids:
                first.setdefault(key_of(each), turn.number)
                if type(each) is str:
                    repeats = repeats or each in strings
                    strings.add(each)
        return SentIds(first, strings, repeats=repeats)


class ExchangePart:
    """The elements of one exchange.

    `listed`: the messages of the request; None if it has none. `earlier`: the part whose request begins with the same
    messages, `common` of them. `start`: the messages before it are in the same turns as in the earlier request, and all
    else of the request is the same; 0 if that is not so. `user`, `last`: the positions of the last user message, and
    of the last assistant message, or 0.
    """

    def __init__(self, number: int, exchange: Exchange, before: Sequence["ExchangePart"], *, grows: bool) -> None:
        """Find the elements; `before` are the parts of the session so far, and `grows` whether others may follow."""
        self.number = number
        self.grows = grows
        self.earlier: ExchangePart | None = None
        self.common = self.start = self.last = 0
        self.user = -1
        self.surroundings: bytes | None = None
        body: Any = exchange.request
        listed = body.get("messages") if type(body) is dict else None
        self.listed: list[Any] | None = listed if type(listed) is list else None
        if grows and self.listed is not None:
            self.surroundings = _surroundings(exchange)
            self._continue(exchange, before)
            if self.common:
                exchange = self._shared(exchange)
        elif self.listed is not None:
            self.user = last_user(self.listed)
        self.exchange = exchange
        self.requests: list[Body] = []
        self.answers: list[Body] = []
        self.responses: list[Body] = []
        self.replies: list[Reply] = []
        self.reply_calls: list[Call] = []
        self.streams: list[Streamed] = []
        self.errors: list[Body] = []
        self.usages: list[Usage] = []
        if type(exchange.request) is dict:
            self.requests.append(Body((number, "request"), exchange.request, exchange))
        response, native = exchange.response, exchange.native
        if response is None and native is not None:
            # What could not be translated is an answer all the same.
            response = native.response
        if response is not None:
            self._read_answer(response)

    def _continue(self, exchange: Exchange, before: Sequence["ExchangePart"]) -> None:
        """Find the earlier request that this one continues, and from where on its elements are new."""
        listed: list[Any] = self.listed or []
        # The latest first: of several requests with as much in common, it is the one that goes on.
        for part in reversed(before[-LOOK_BACK:]):
            if part.listed and listed:
                common = self._common(part)
                if common > self.common:
                    self.earlier, self.common = part, common
                if common in (len(part.listed), len(listed)):
                    break
        earlier = self.earlier
        if earlier is None:
            self.user, self.last = last_user(listed), max(0, last_assistant(listed, len(listed)))
            return
        user = last_user(listed, self.common)
        before_user = earlier.user if earlier.user < self.common else last_user(listed[: self.common])
        self.user = before_user if user < 0 else user
        last = last_assistant(listed, len(listed), self.common)
        within = earlier.last if earlier.last < self.common else last_assistant(listed, self.common)
        self.last = max(0, within if last < 0 else last)
        if self._is_alike(exchange, earlier):
            start = max(0, within)
            if self.user != earlier.user:
                # A turn is open or over by whether a user message follows it.
                border = min(self.common, min(self.user, earlier.user) + 2)
                start = min(start, max(0, last_assistant(listed, border)))
            self.start = earlier.border(start)

    def _common(self, part: "ExchangePart") -> int:
        """Return how many messages two requests have in common at the beginning, down to the order of keys."""
        before, after = part.listed or [], self.listed or []
        # A client that keeps its history gives the same objects again, and so does `documents.growing`.
        number = count_shared(before, after)
        # What is unequal to Python is rendered differently, too; what is equal need not be rendered alike.
        if number == min(len(before), len(after)) or before[number] != after[number]:
            return number
        # Marks are kept where all messages need one; after some that are shared, few are left.
        start = number
        olds, news = (map(_mark, before[start:]), map(_mark, after[start:])) if start else (part.marks, self.marks)
        for old, new in zip(olds, news, strict=False):
            if old is None or old != new:
                break
            number += 1
        return number

    @lazy
    def marks(self) -> list[int | None]:
        """Return a number for each message: messages that are rendered alike have the same; None if one cannot be.

        In Python, 1, 1.0 and True are equal, and so are objects with their keys in another order.
        """
        return [_mark(message) for message in self.listed or ()]

    def border(self, position: int) -> int:
        """Return the last position at or before one at which elements were divided."""
        part: ExchangePart | None = self
        while part is not None:
            for each in (part.last, part.start):
                if each <= position:
                    return each
            part = part.earlier if part.start else None
        return 0

    def _is_alike(self, exchange: Exchange, earlier: "ExchangePart") -> bool:
        """Return whether all of a request but its messages is that of the earlier one."""
        other = earlier.exchange
        if self.surroundings is None or self.surroundings != earlier.surroundings:
            return False
        native, of_other = exchange.native, other.native
        # Messages that the server holds are in no body, so that equal bodies do not mean equal requests.
        is_held = any([each is not None and each.held is not None for each in (native, of_other)])
        return exchange.model == other.model and exchange.protocol == other.protocol and not is_held

    def _shared(self, exchange: Exchange) -> Exchange:
        """Return the exchange with the very messages of the earlier one, so that they are held and compared once."""
        earlier, listed, common = self.earlier, self.listed, self.common
        if earlier is None or earlier.listed is None or listed is None or _is_shared(earlier.listed, listed, common):
            return exchange
        self.listed = listed = earlier.listed[:common] + listed[common:]
        # Tools may be larger than all messages: they are held once, too.
        held = earlier.exchange.request if self.surroundings == earlier.surroundings is not None else exchange.request
        request = {
            key: listed if key == "messages" else held.get(key, value) for key, value in exchange.request.items()
        }
        return replace_request(exchange, request)

    @lazy
    def size(self) -> int:
        """Return how many bytes the exchange adds to those of the earlier one that it continues."""
        return self._size((self.listed or [])[self.common :])

    @lazy
    def whole_size(self) -> int:
        """Return how many bytes the exchange has."""
        return self._size(self.listed or [])

    def _size(self, messages: list[Any]) -> int:
        exchange = self.exchange
        response = exchange.response if exchange.native is None else exchange.native.response
        beside = 0 if self.surroundings is None or self.start else len(self.surroundings)
        reply = len(response) if type(response) is str else len(_rendered(response))
        return len(_rendered(messages)) + beside + reply + _BYTES_PER_PLACE * len(self.listed or ())

    @lazy
    def tools(self) -> list[Body]:
        """Return the tool definitions of the request."""
        body: Any = self.exchange.request
        tools = body.get("tools") if type(body) is dict else None
        place: Place = (self.number, "request", "tools")
        listed = tools if type(tools) is list else ()
        return [Body((*place, position), tool, self.exchange) for position, tool in enumerate(listed)]

    @lazy
    def pieces(self) -> list[SentElements]:
        """Return the elements of the messages that are new, divided where the next request will continue."""
        if not self.listed:
            return []
        begin, end = self.start, len(self.listed)
        borders = [(begin, self.last), (self.last, end)] if self.grows and begin < self.last else [(begin, end)]
        body = self.exchange.request
        return [SentElements(self.number, body, start, stop, self.user) for start, stop in borders]

    @lazy
    def whole(self) -> SentElements:
        """Return the elements of all messages."""
        if not self.start and len(self.pieces) == 1:
            return self.pieces[0]
        body = self.exchange.request if self.listed is not None else {"messages": []}
        return SentElements(self.number, body, 0, len(self.listed or ()), self.user)

    @lazy
    def assistants(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the assistant messages, each with its position."""
        found: list[tuple[int, dict[str, Any]]] = []
        if self.start and self.earlier is not None:
            listed = self.earlier.assistants
            found = listed[: bisect_left(listed, self.start, key=itemgetter(0))]
        for piece in self.pieces:
            found = found + piece.assistants
        return found

    @lazy
    def ids(self) -> Sequence[SentIds]:
        """Return the ids of the calls before each piece, and those of all."""
        found = [SentIds({}, set(), repeats=False)]
        if self.start and self.earlier is not None:
            found = [self.earlier.ids_before(self.start)]
        for piece in self.pieces:
            found.append(found[-1].add(piece))
        return found

    def ids_before(self, position: int) -> SentIds:
        """Return the ids of the calls in the messages before a border."""
        for piece, ids in zip(self.pieces, self.ids, strict=False):
            if piece.begin == position:
                return ids
        if self.earlier is not None and position < self.start:
            return self.earlier.ids_before(position)
        body = self.exchange.request
        return SentIds({}, set(), repeats=False).add(SentElements(self.number, body, 0, position, self.user))

    @lazy
    def has_turns(self) -> bool:
        """Return whether the request has calls."""
        return bool(self.ids[-1].first) if self.grows else bool(self.whole.turns)

    @lazy
    def message_count(self) -> int:
        """Return the number of messages that are objects."""
        listed: list[Any] = self.listed or []
        earlier = self.earlier
        if earlier is not None and earlier.listed is not None and self.common == len(earlier.listed):
            return earlier.message_count + [type(each) for each in listed[self.common :]].count(dict)
        return [type(each) for each in listed].count(dict)

    @lazy
    def call_counts(self) -> Sequence[int]:
        """Return the number of calls before each piece, and that of all."""
        found = [0]
        if self.start and self.earlier is not None:
            found = [self.earlier.calls_before(self.start)]
        for piece in self.pieces:
            found.append(found[-1] + sum([len(turn.ids) for turn in piece.turns]))
        return found

    def calls_before(self, position: int) -> int:
        """Return the number of calls in the messages before a border."""
        for piece, count in zip(self.pieces, self.call_counts, strict=False):
            if piece.begin == position:
                return count
        if self.earlier is not None and position < self.start:
            return self.earlier.calls_before(position)
        return sum([len(turn.ids) for turn in self.whole.turns if turn.number < position])

    def _read_answer(self, response: Any) -> None:
        exchange = self.exchange
        status = exchange.status
        request = exchange.request if type(exchange.request) is dict else None
        answer = Body((self.number, "response"), response, exchange)
        self.answers.append(answer)
        # The status decides first: an error may have the shape of a reply.
        if status is not None and status >= 400:
            self.errors.append(answer)
        elif type(response) is dict:
            self._read_plain(answer, response, request)
        elif type(response) is str and exchange.streamed and not is_foreign(response):
            self._read_stream(answer, response, request)

    def _read_plain(self, answer: Body, body: dict[str, Any], request: dict[str, Any] | None) -> None:
        self.responses.append(answer)
        place, native = answer.place, answer.exchange.native
        complete = native is None or native.complete
        choices = body.get("choices")
        for position, choice in enumerate(choices if type(choices) is list else ()):
            message = choice.get("message") if type(choice) is dict else None
            if type(message) is dict:
                at = (*place, "choices", position)
                self._add_reply(at, message, choice.get("finish_reason"), request, None, complete=complete)
        usage = body.get("usage")
        if type(usage) is dict:
            self.usages.append(Usage((*place, "usage"), usage, request, streamed=False))

    def _read_stream(self, answer: Body, text: str, request: dict[str, Any] | None) -> None:
        place = answer.place
        stream = assemble(read(text))
        has_calls = any([choice.calls for choice in stream.choices])
        self.streams.append(Streamed(place, stream, request, has_calls))
        for choice in stream.choices:
            at = (*place, "choices", choice.index)
            complete = choice.finish_reason is not None
            self._add_reply(at, choice.message, choice.finish_reason, request, choice.texts, complete=complete)
            self._move_calls([(*place, *opened) for opened in choice.calls])
        if stream.usage is not None:
            self.usages.append(Usage((*place, *stream.anomalies["usage"][-1].at), stream.usage, request, streamed=True))

    def _move_calls(self, opened: list[Place]) -> None:
        """Give the calls of the last reply the places at which the stream opens them."""
        reply = self.replies[-1]
        if opened and len(opened) == len(reply.calls):
            reply.calls[:] = [Call(at, *call[1:]) for call, at in zip(reply.calls, opened, strict=True)]
            self.reply_calls[len(self.reply_calls) - len(opened) :] = reply.calls

    def _add_reply(
        self,
        place: Place,
        message: dict[str, Any],
        finish_reason: Any,
        request: dict[str, Any] | None,
        texts: Mapping[str, str] | None,
        *,
        complete: bool,
    ) -> None:
        tool_calls = message.get("tool_calls")
        calls = calls_of(tool_calls, (*place, "message"), request) if type(tool_calls) is list else []
        self.reply_calls += calls
        streamed = texts is not None
        self.replies.append(Reply(place, message, finish_reason, calls, request, streamed, complete, texts or {}))


def replace_request(exchange: Exchange, request: dict[str, Any]) -> Exchange:
    """Return an exchange with another request, whose other members stay as they are."""
    of = Exchange.of_plain
    return of(
        request, exchange.response, exchange.status, exchange.streamed, exchange.headers, exchange.url, exchange.model,
        exchange.date, exchange.native,
    )  # fmt: skip


def _surroundings(exchange: Exchange) -> bytes | None:
    """Return what a request has beside its messages, on its own wire, too; None if that cannot be compared."""
    native = exchange.native
    bodies = [exchange.request, *(() if native is None else (native.request,))]
    held = [{key: each for key, each in body.items() if key not in _LISTS} for body in bodies if type(body) is dict]
    try:
        return orjson.dumps(held)
    except TypeError:
        return None


def _rendered(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # A text that was not decoded from bytes may contain half of a surrogate pair.
        return repr(value).encode(errors="replace")


def _mark(message: Any) -> int | None:
    try:
        return hash(orjson.dumps(message))
    except TypeError:
        return None


def _is_shared(before: list[Any], after: list[Any], common: int) -> bool:
    """Return whether the first messages of two requests are the same objects: the last one shows it."""
    return all([before[at] is after[at] for at in (0, common - 1)])
