"""One index per conversation: all elements that rules look at, found once and shared by all rules.

Elements are tuples of (place, value, …) that refer to the conversation's own values; nothing is copied or repaired.
Values of the wrong type are not elements: the schemas report them. Each exchange is a part with elements of its own,
and what follows from the exchanges before it is found as they come: nothing about an exchange depends on a later one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any, Protocol, TypeVar

from conformance.documents.pointer import Place
from conformance.wire.anomalies import Anomaly, describe
from conformance.wire.continuations import Continuation, Continuing
from conformance.wire.elements import AnyStream, Body, Call, Message, Reply, Resent, Result, Streamed, ToolTurn, Usage
from conformance.wire.exchange import Exchange
from conformance.wire.keys import key_of
from conformance.wire.parts import ExchangePart
from conformance.wire.repeats import StreamedText
from conformance.wire.resent import Resending, ResentOf
from conformance.wire.reuse import SentCalls, SentCallsOf
from conformance.wire.same_calls import call_key

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Growth(Protocol[T_co]):
    """What is found of one exchange after the other; `add` is called once for each, in order."""

    def add(self, index: "Index", number: int, /) -> T_co: ...  # noqa: D102 — above


class Index:
    """The elements of one conversation, in wire order.

    `parts`: the exchanges, each with its elements. `grows`: whether further exchanges may be added, so that a request
    is held against those before it. `shared`: what was found of values that other indexes have, too, by who found it:
    those of other forms of the same conversation.
    """

    __slots__ = (
        "_continues",
        "_grown",
        "_joined",
        "_of_replies",
        "_received",
        "_reply_call_keys",
        "conversation",
        "grows",
        "parts",
        "shared",
    )

    def __init__(
        self,
        conversation: Sequence[Exchange] = (),
        *,
        grows: bool | None = None,
        continues: bool = True,
        shared: dict[Any, Any] | None = None,
    ) -> None:
        """Find the elements of a conversation; unless it `continues`, those of each request from its beginning on."""
        self._continues = continues
        self.shared = shared
        self.grows = len(conversation) > 1 if grows is None else grows
        self.conversation: list[Exchange] = []
        self.parts: list[ExchangePart] = []
        self._grown: dict[Any, tuple[Growth[Any], list[Any]]] = {}
        self._joined: dict[str, tuple[int, list[Any]]] = {}
        self._received: dict[tuple[str, ...], tuple[int, dict[Any, int]]] = {}
        self._reply_call_keys: tuple[int, dict[Any, int]] = (0, {})
        self._of_replies: dict[tuple[Any, int], Any] = {}
        for exchange in conversation:
            self.add(exchange)

    def add(self, exchange: Exchange) -> ExchangePart:
        """Add the next exchange of the conversation, and return its part."""
        part = ExchangePart(len(self.parts), exchange, self.parts if self._continues else (), grows=self.grows)
        self.parts.append(part)
        # Not the one that was given: its messages are those of an earlier request where they are the same.
        self.conversation.append(part.exchange)
        return part

    def of_reply(self, find: Callable[[Reply], T], reply: Reply) -> T:
        """Return what a function finds in a reply of this conversation, which it is asked for once."""
        # The index holds its replies, so that no other object gets the identity of one.
        key = find, id(reply)
        if key not in self._of_replies:
            self._of_replies[key] = find(reply)
        found: T = self._of_replies[key]
        return found

    def size_from(self, number: int) -> int:
        """Return how many bytes the exchanges from one on have; what they have in common counts once."""
        later = self.parts[number + 1 :]
        return self.parts[number].whole_size + sum([part.size for part in later])

    def grown(self, growth: "Callable[[], Growth[T_co]]", number: int) -> T_co:
        """Return what a growth finds of an exchange; those before it are added first."""
        if growth not in self._grown:
            self._grown[growth] = growth(), []
        state, found = self._grown[growth]
        while len(found) <= number:
            found.append(state.add(self, len(found)))
        done: T_co = found[number]
        return done

    def _join(self, name: str, of: Callable[[ExchangePart], list[Any]]) -> list[Any]:
        """Return the elements of all parts."""
        if len(self.parts) == 1:
            return of(self.parts[0])
        count, found = self._joined.get(name, (0, []))
        if count < len(self.parts):
            found = [each for part in self.parts for each in of(part)]
            self._joined[name] = len(self.parts), found
        return found

    @property
    def requests(self) -> list[Body]:
        """Return the requests that are objects."""
        return self._join("requests", lambda part: part.requests)

    @property
    def assistants(self) -> dict[int, list[tuple[int, dict[str, Any]]]]:
        """Return the assistant messages of each request, by the number of its exchange, with their positions."""
        return {part.number: part.assistants for part in self.parts if part.listed is not None}

    @property
    def plain_turns(self) -> list[Message]:
        """Return the assistant messages without calls."""
        return self._join("plain_turns", lambda part: part.whole.plain_turns)

    @property
    def turns(self) -> list[ToolTurn]:
        """Return the assistant messages with calls."""
        return self._join("turns", lambda part: part.whole.turns)

    @property
    def results(self) -> list[Result]:
        """Return the tool messages."""
        return self._join("results", lambda part: part.whole.results)

    @property
    def calls(self) -> list[Call]:
        """Return the tool calls of all requests."""
        return self._join("calls", lambda part: part.whole.calls)

    @property
    def tools(self) -> list[Body]:
        """Return the tool definitions."""
        return self._join("tools", lambda part: part.tools)

    @property
    def answers(self) -> list[Body]:
        """Return the responses of any status."""
        return self._join("answers", lambda part: part.answers)

    @property
    def responses(self) -> list[Body]:
        """Return the bodies of plain replies."""
        return self._join("responses", lambda part: part.responses)

    @property
    def replies(self) -> list[Reply]:
        """Return the assistant messages of replies."""
        return self._join("replies", lambda part: part.replies)

    @property
    def reply_calls(self) -> list[Call]:
        """Return the tool calls of replies."""
        return self._join("reply_calls", lambda part: part.reply_calls)

    @property
    def streams(self) -> list[Streamed]:
        """Return the event streams."""
        return self._join("streams", lambda part: part.streams)

    @property
    def errors(self) -> list[Body]:
        """Return the answers with an error status."""
        return self._join("errors", lambda part: part.errors)

    @property
    def usages(self) -> list[Usage]:
        """Return the usage objects."""
        return self._join("usages", lambda part: part.usages)

    @property
    def all_streams(self) -> list[AnyStream]:
        """Return the streams of all wires."""
        return self._join("all_streams", lambda part: self.any_stream(part.number))

    @property
    def resent(self) -> list[Resent]:
        """Return the messages that send replies back, in the order of the replies."""
        found = [each for part in self.parts for each in self.resent_of(part.number).of(self, part.number)]
        return sorted(found, key=lambda each: each.rank)

    @property
    def continuations(self) -> list[Continuation]:
        """Return the requests that continue earlier ones."""
        found = [self.continuation_of(part.number) for part in self.parts]
        return [each for each in found if each is not None]

    def common(self, earlier: int, later: int) -> int:
        """Return how many messages two requests are known to have in common at the beginning."""
        part = self.parts[later]
        return part.common if part.earlier is self.parts[earlier] else 0

    def resent_of(self, number: int) -> ResentOf:
        """Return which messages of a request send replies back."""
        return self.grown(Resending, number)

    def continuation_of(self, number: int) -> Continuation | None:
        """Return which earlier request one continues; None if it continues none."""
        return self.grown(Continuing, number)

    def sent_body(self, number: int) -> list[Body]:
        """Return the body of a request as it was sent, whatever it is."""
        exchange = self.conversation[number]
        body = exchange.request if exchange.native is None else exchange.native.request
        return [] if body is None else [Body((number, "request"), body, exchange)]

    def any_stream(self, number: int) -> list[AnyStream]:
        """Return the stream of an exchange on any wire."""
        native, place = self.conversation[number].native, (number, "response")
        if native is not None and native.events:
            error = native.error()
            return [AnyStream(place, () if error is None else (Anomaly(error[0], describe(error[1])),))]
        return [
            AnyStream(each.place, each.value.anomalies.get("error-in-band", ())) for each in self.parts[number].streams
        ]

    def streamed_texts_of(self, number: int) -> list[StreamedText]:
        """Return the texts of the stream of one exchange, in the fragments in which they come."""
        native = self.conversation[number].native
        if native is not None:
            return list(native.texts(number))
        return [text for stream in self.parts[number].streams for text in _texts_of(stream)]

    def messages_of(self, number: int) -> list[Message]:
        """Return the messages of a request."""
        part = self.parts[number]
        return [
            Message(
                (number, "request", "messages", position), value, value.get("role"), position, part.exchange.request
            )
            for position, value in enumerate(part.listed or ())
            if type(value) is dict
        ]

    def messages_at(self, number: int, places: Iterable[Place]) -> list[Message]:
        """Return the messages of a request among some places, without creating the others."""
        found = []
        for place in sorted([at for at in places if at[:3] == (number, "request", "messages") and len(at) == 4]):
            body, position = self.conversation[number].request, int(place[-1])
            value = body["messages"][position]
            if type(value) is dict:
                found.append(Message(place, value, value.get("role"), position, body))
        return found

    @property
    def chunks(self) -> list[Body]:
        """Return the chunks of all streams."""
        return self._join("chunks", lambda part: self.chunks_of(part.number))

    def chunks_of(self, number: int) -> list[Body]:
        """Return the chunks of a stream, without events that report an error or follow the end mark."""
        return [
            self._chunk(stream, at)
            for stream in self.parts[number].streams
            for special in stream.ordinary()
            for at in (special, *stream.value.chunks.repeating(special))
        ]

    def chunks_at(self, number: int, places: Iterable[Place]) -> list[Body]:
        """Return the chunks of a stream among some places, without creating the others."""
        streams = {stream.place: stream for stream in self.parts[number].streams}
        own = sorted([at for at in places if at[:2] in streams and len(at) == 3 and type(at[2]) is int])
        return [self._chunk(streams[at[:2]], int(at[2])) for at in own]

    def count_chunks(self, number: int) -> int:
        """Return the number of chunks of an exchange, without creating elements."""
        streams = [(stream.value.chunks, stream.ordinary()) for stream in self.parts[number].streams]
        return sum([chunks.objects - len(chunks.special) + len(ordinary) for chunks, ordinary in streams])

    def _chunk(self, stream: Streamed, number: int) -> Body:
        return Body((*stream.place, number), stream.value.chunks[number], self.conversation[int(stream.place[0])])

    def was_received(self, number: int, values: tuple[Any, ...], *fields: str) -> bool:
        """Return whether a reply before an exchange has some values in its fields; an empty one counts as None."""
        count, found = self._received.get(fields, (0, {}))
        for part in self.parts[count:]:
            for reply in part.replies:
                # The first exchange counts, since every later one comes after it.
                found.setdefault(tuple([key_of(reply.message.get(field) or None) for field in fields]), part.number)
        self._received[fields] = len(self.parts), found
        return found.get(tuple(map(key_of, values)), number) < number

    def reply_call_keys(self, number: int) -> "Set[Any]":
        """Return the keys of the calls of all replies before an exchange."""
        count, found = self._reply_call_keys
        for part in self.parts[count:]:
            for call in part.reply_calls:
                found.setdefault(call_key(call), part.number)
        self._reply_call_keys = len(self.parts), found
        # A view: a copy for each exchange would make a long session as large as its square.
        return _Before(found, number)

    def sent_calls(self, number: int) -> SentCalls:
        """Return the calls of the request of one exchange."""
        return self.grown(SentCallsOf, number)


class _Before(Set[Any]):
    """The keys whose number is lower than one."""

    def __init__(self, numbers: dict[Any, int], end: int) -> None:
        self._numbers, self._end = numbers, end

    def __contains__(self, key: object) -> bool:
        return self._numbers.get(key, self._end) < self._end

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, number in self._numbers.items() if number < self._end])

    def __len__(self) -> int:
        return sum([number < self._end for number in self._numbers.values()])


def _texts_of(stream: Streamed) -> list[StreamedText]:
    chunks = stream.value.chunks
    return [
        StreamedText(stream.place, name, texts, chunks)
        for choice in stream.value.choices
        for name, texts in choice.fragments
    ]
