"""One index per conversation: all elements that rules look at, found once and shared by all rules.

Elements are tuples of (place, value, …) that refer to the conversation's own values; nothing is copied or repaired.
Values of the wrong type are not elements: the schemas report them. Elements that few rules look at (each message, each
call, each chunk) are found when they are first needed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from conformance.documents.pointer import Place
from conformance.wire.anomalies import Anomaly, describe
from conformance.wire.assemble import assemble
from conformance.wire.continuations import Continuation, find_continuations
from conformance.wire.elements import (
    AnyStream,
    Body,
    Call,
    Message,
    Reply,
    Resent,
    Result,
    Streamed,
    ToolTurn,
    Usage,
    calls_of,
)
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.keys import key_of
from conformance.wire.plain import is_foreign
from conformance.wire.repeats import StreamedText
from conformance.wire.resent import call_key, find_resent, last_user
from conformance.wire.reuse import SentCalls, sent_calls
from conformance.wire.sse import read

Element = TypeVar("Element", ToolTurn, Result, Reply, Streamed)


class Index:
    """The elements of one conversation, in wire order.

    `assistants` are the assistant messages of each request, by the number of its exchange, with their positions.
    """

    __slots__ = (
        "_calls", "_chunks", "_continuations", "_messages", "_received", "_reply_call_keys", "_sent_calls", "answers",
        "assistants",
        "conversation", "errors", "plain_turns", "replies", "reply_calls", "requests", "resent", "responses", "results",
        "streams", "tools", "turns", "usages",
    )  # fmt: skip

    def __init__(self, conversation: Conversation) -> None:
        """Find the elements of a conversation."""
        self.conversation = conversation
        self._messages: list[Message] | None = None
        self._calls: list[Call] | None = None
        self._chunks: list[Body] | None = None
        self._continuations: list[Continuation] | None = None
        self._received: dict[tuple[str, ...], set[Any]] = {}
        self._reply_call_keys: set[Any] | None = None
        self._sent_calls: dict[int, SentCalls] = {}
        self.assistants: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        self.requests: list[Body] = []
        self.plain_turns: list[Message] = []
        self.turns: list[ToolTurn] = []
        self.results: list[Result] = []
        self.tools: list[Body] = []
        self.answers: list[Body] = []
        self.responses: list[Body] = []
        self.replies: list[Reply] = []
        self.reply_calls: list[Call] = []
        self.streams: list[Streamed] = []
        self.errors: list[Body] = []
        self.usages: list[Usage] = []
        self.resent: list[Resent] = []
        for number, exchange in enumerate(conversation):
            # `type(x) is`, as in all of `wire` and `rules`: values are plain JSON, and to isinstance, True is an int.
            if type(exchange.request) is dict:
                self._read_request(number, exchange, exchange.request)
            response, native = exchange.response, exchange.native
            if response is None and native is not None:
                # What could not be translated is an answer all the same.
                response = native.response
            if response is not None:
                self._read_answer(number, exchange, response)
        if len(conversation) > 1 and self.replies:
            self.resent = find_resent(conversation, self.replies, self.assistants)

    @property
    def sent_bodies(self) -> list[Body]:
        """Return the bodies of all requests, as they were sent, whatever they are."""
        held = [(each, each.request if each.native is None else each.native.request) for each in self.conversation]
        return [
            Body((number, "request"), body, exchange)
            for number, (exchange, body) in enumerate(held)
            if body is not None
        ]

    @property
    def all_streams(self) -> list[AnyStream]:
        """Return the streams of all wires."""
        found = {each.place: each.value.anomalies.get("error-in-band", ()) for each in self.streams}
        for number, exchange in enumerate(self.conversation):
            native = exchange.native
            if native is not None and native.events:
                error = native.error()
                found[number, "response"] = () if error is None else (Anomaly(error[0], describe(error[1])),)
        return [AnyStream(place, found[place]) for place in sorted(found)]

    @property
    def streamed_texts(self) -> list[StreamedText]:
        """Return the texts of the streams of all wires, in the fragments in which they come."""
        found = [text for stream in self.streams for text in _texts_of(stream)]
        natives = [(number, each.native) for number, each in enumerate(self.conversation) if each.native is not None]
        return found + [text for number, native in natives for text in native.texts(number)]

    def streamed_texts_of(self, number: int) -> list[StreamedText]:
        """Return the texts of the stream of one exchange."""
        native = self.conversation[number].native
        if native is not None:
            return list(native.texts(number))
        return [text for stream in self.of_exchange(self.streams, number) for text in _texts_of(stream)]

    @property
    def messages(self) -> list[Message]:
        """Return the messages of all requests."""
        if self._messages is None:
            self._messages = [
                Message((*place, position), value, value.get("role"), position, body)
                for place, body in self._message_lists()
                for position, value in enumerate(body["messages"])
                if type(value) is dict
            ]
        return self._messages

    def count_messages(self) -> int:
        """Return the number of messages, without creating elements."""
        return sum([[type(each) for each in body["messages"]].count(dict) for _, body in self._message_lists()])

    def messages_at(self, places: Iterable[Place]) -> list[Message]:
        """Return the messages among some places, without creating the others."""
        found = []
        for place in sorted([at for at in places if at[1:3] == ("request", "messages") and len(at) == 4]):
            body, position = self.conversation[int(place[0])].request, int(place[-1])
            value = body["messages"][position]
            if type(value) is dict:
                found.append(Message(place, value, value.get("role"), position, body))
        return found

    @property
    def calls(self) -> list[Call]:
        """Return the tool calls of all requests."""
        if self._calls is None:
            self._calls = [call for turn in self.turns for call in turn.calls]
        return self._calls

    def count_calls(self) -> int:
        """Return the number of tool calls in requests, without creating elements."""
        return sum([len(turn.ids) for turn in self.turns])

    @property
    def chunks(self) -> list[Body]:
        """Return the chunks of all streams, without events that report an error or follow the end mark."""
        if self._chunks is None:
            self._chunks = [
                self._chunk(stream, number)
                for stream in self.streams
                for special in stream.ordinary()
                for number in (special, *stream.value.chunks.repeating(special))
            ]
        return self._chunks

    def chunks_at(self, places: Iterable[Place]) -> list[Body]:
        """Return the chunks among some places, without creating the others."""
        streams = {stream.place: stream for stream in self.streams}
        own = sorted([at for at in places if at[:2] in streams and len(at) == 3 and type(at[2]) is int])
        return [self._chunk(streams[at[:2]], int(at[2])) for at in own]

    def count_chunks(self) -> int:
        """Return the number of chunks, without creating elements."""
        streams = [(stream.value.chunks, stream.ordinary()) for stream in self.streams]
        return sum([chunks.objects - len(chunks.special) + len(ordinary) for chunks, ordinary in streams])

    def _chunk(self, stream: Streamed, number: int) -> Body:
        return Body((*stream.place, number), stream.value.chunks[number], self.conversation[int(stream.place[0])])

    @property
    def continuations(self) -> list[Continuation]:
        """Return the requests that continue earlier ones."""
        if self._continuations is None:
            several = len(self.conversation) > 1
            found = find_continuations(self.conversation, self.replies, self.resent) if several else []
            self._continuations = found
        return self._continuations

    def received(self, *fields: str) -> set[Any]:
        """Return the keys of the values that all replies have in some fields, a tuple for each; None if it is empty."""
        if fields not in self._received:
            messages = [reply.message for reply in self.replies]
            self._received[fields] = {tuple([key_of(each.get(field) or None) for field in fields]) for each in messages}
        return self._received[fields]

    @property
    def reply_call_keys(self) -> set[Any]:
        """Return the keys of the calls of all replies."""
        if self._reply_call_keys is None:
            self._reply_call_keys = {call_key(call) for call in self.reply_calls}
        return self._reply_call_keys

    def sent_calls(self, number: int) -> SentCalls:
        """Return the calls of the request of one exchange, which must have messages."""
        if number not in self._sent_calls:
            messages = self.conversation[number].request["messages"]
            self._sent_calls[number] = sent_calls(messages, self.reply_call_keys)
        return self._sent_calls[number]

    @staticmethod
    def of_exchange(elements: Sequence[Element], number: int) -> Sequence[Element]:
        """Return those of some elements that belong to one exchange; elements are in the order of their exchanges."""
        if not elements or elements[0].place[0] == number == elements[-1].place[0]:
            return elements
        start = bisect_left(elements, number, key=_exchange)
        return elements[start : bisect_left(elements, number + 1, start, key=_exchange)]

    def _message_lists(self) -> Iterator[tuple[Place, dict[str, Any]]]:
        for number, exchange in enumerate(self.conversation):
            body = exchange.request
            if type(body) is dict and type(body.get("messages")) is list:
                yield (number, "request", "messages"), body

    def _read_request(self, number: int, exchange: Exchange, body: dict[str, Any]) -> None:
        self.requests.append(Body((number, "request"), body, exchange))
        tools = body.get("tools")
        for position, tool in enumerate(tools if type(tools) is list else ()):
            self.tools.append(Body((number, "request", "tools", position), tool, exchange))
        messages = body.get("messages")
        if type(messages) is not list:
            return
        user = last_user(messages)
        assistants = self.assistants[number] = []
        position, end = 0, len(messages)
        while position < end:
            value = messages[position]
            role = value.get("role") if type(value) is dict else None
            if role == "assistant":
                assistants.append((position, value))
                calls = value.get("tool_calls")
                if type(calls) is list and calls:
                    position = self._read_turn(number, body, position, current=position > user)
                    continue
                place = (number, "request", "messages", position)
                self.plain_turns.append(Message(place, value, role, position, body))
            elif role == "tool":
                place = (number, "request", "messages", position)
                self.results.append(
                    Result(place, value, value.get("tool_call_id"), None, adjacent=False, known=False, number=position)
                )
            position += 1

    def _read_turn(self, number: int, body: dict[str, Any], start: int, *, current: bool) -> int:
        """Read an assistant message with tool calls and its results; return the position after them."""
        messages = body["messages"]
        value = messages[start]
        ids = [call.get("id") if type(call) is dict else None for call in value["tool_calls"]]
        found: list[tuple[int, dict[str, Any], bool]] = []
        adjacent = all_adjacent = True
        position, end = start + 1, len(messages)
        while position < end:
            message = messages[position]
            role = message.get("role") if type(message) is dict else None
            if role == "tool":
                found.append((position, message, adjacent))
                # Once false, `adjacent` stays so; the last result speaks for all before it.
                all_adjacent = adjacent
            elif role == "assistant":
                break
            else:
                adjacent = False
            position += 1
        paired = all_adjacent and ids == [message.get("tool_call_id") for _, message, _ in found]
        # Paired ids are known without a set, and nearly all turns of a long history are paired.
        known = () if paired else set(map(key_of, ids))
        results: list[Result] = []
        for at, message, near in found:
            identity = message.get("tool_call_id")
            is_known = paired or key_of(identity) in known
            results.append(Result((number, "request", "messages", at), message, identity, ids, near, is_known, at))
        place = (number, "request", "messages", start)
        self.turns.append(ToolTurn(place, value, ids, results, current, paired, start, body))
        self.results += results
        return position

    def _read_answer(self, number: int, exchange: Exchange, response: Any) -> None:
        status = exchange.status
        place = (number, "response")
        request = exchange.request if type(exchange.request) is dict else None
        answer = Body(place, response, exchange)
        self.answers.append(answer)
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


def _exchange(element: ToolTurn | Result | Reply | Streamed) -> int:
    return int(element.place[0])


def _texts_of(stream: Streamed) -> list[StreamedText]:
    chunks = stream.value.chunks
    return [
        StreamedText(stream.place, name, texts, chunks)
        for choice in stream.value.choices
        for name, texts in choice.fragments
    ]
