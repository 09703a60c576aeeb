"""One index per conversation: every part that rules look at, found once and shared by all of them.

Parts are tuples of (place, value, …) that point into the conversation's own values; nothing is copied or
repaired. Values of the wrong type are no parts: the schemas report them. What only few rules look at (each message,
each call, each chunk) is found when it is first asked for.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.wire.assemble import Stream, assemble
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.pointer import Place
from conformance.wire.sse import read


class Message(NamedTuple):
    """A message of a request; `request` is the body and `number` the position among its messages."""

    place: Place
    value: dict[str, Any]
    role: Any
    number: int
    request: dict[str, Any]


class Call(NamedTuple):
    """A tool call, of a request's history or of a reply; `position` is its place among the calls of its message."""

    place: Place
    value: dict[str, Any]
    id: Any
    name: Any
    arguments: Any
    position: int
    request: dict[str, Any] | None


class Result(NamedTuple):
    """A tool message of a request.

    `turn` is the tool turn before it, with no other assistant message in between (None: there is none);
    `adjacent` says whether nothing but tool messages stands between the two.
    """

    place: Place
    value: dict[str, Any]
    id: Any
    turn: "Turn | None"
    adjacent: bool
    number: int


class Turn(NamedTuple):
    """An assistant message with tool calls in a request's history, and the results that follow it.

    `ids`: those of the calls, in their order. `current`: no user message comes after it, so that the model is still
    within this loop. `paired`: the results directly follow and bear the ids of the calls in the calls' order, so that
    nothing can be wrong with the pairing.
    """

    place: Place
    value: dict[str, Any]
    ids: list[Any]
    results: list[Result]
    current: bool
    paired: bool
    number: int
    request: dict[str, Any]

    @property
    def calls(self) -> list[Call]:
        """Return the calls as parts."""
        return _calls(self.value["tool_calls"], self.place, self.request)


class Reply(NamedTuple):
    """The assistant message that a provider replied with, plain or put together from a stream.

    `place` leads to the choice; that of a stream is one of what the stream was put together to, as
    `/0/response/choices/0`, while its calls stand where the stream opens them, as `/0/response/7/choices/0/delta/…`.
    """

    place: Place
    message: dict[str, Any]
    finish_reason: Any
    calls: list[Call]
    request: dict[str, Any] | None
    streamed: bool
    complete: bool


class Streamed(NamedTuple):
    """The event stream of a reply, put together."""

    place: Place
    value: Stream
    request: dict[str, Any] | None


class Resent(NamedTuple):
    """A message of a later request that carries an earlier reply back."""

    place: Place
    value: dict[str, Any]
    reply: Reply
    current: bool


class Body(NamedTuple):
    """A whole body: of a request, a reply, a chunk or an error; `exchange` is what it came in."""

    place: Place
    value: Any
    exchange: Exchange


class Session(NamedTuple):
    """The replies with tool calls of one conversation, where there are several."""

    place: Place
    replies: list[Reply]


class Usage(NamedTuple):
    """A token count, and the request whose reply it counts."""

    place: Place
    value: dict[str, Any]
    request: dict[str, Any] | None
    streamed: bool


class Index:
    """The parts of one conversation, in their order on the wire."""

    __slots__ = (
        "_calls", "_chunks", "_messages", "answers", "conversation", "errors", "plain_turns", "replies", "reply_calls",
        "requests", "resent", "responses", "results", "sessions", "streams", "tools", "turns", "usages",
    )  # fmt: skip

    def __init__(self, conversation: Conversation) -> None:
        """Find the parts of a conversation."""
        self.conversation = conversation
        self._messages: list[Message] | None = None
        self._calls: list[Call] | None = None
        self._chunks: list[Body] | None = None
        self.requests: list[Body] = []
        self.plain_turns: list[Message] = []
        self.turns: list[Turn] = []
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
        self.sessions: list[Session] = []
        for number, exchange in enumerate(conversation):
            if type(exchange.request) is dict:
                self._read_request(number, exchange, exchange.request)
            if exchange.response is not None:
                self._read_answer(number, exchange)
        if len(conversation) > 1 and self.replies:
            self._match_resent()
            calling = [reply for reply in self.replies if reply.calls]
            if len(calling) > 1:
                self.sessions.append(Session((0,), calling))

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
        """Return how many messages there are, without making parts of them."""
        return sum([len(body["messages"]) for _, body in self._message_lists()])

    @property
    def calls(self) -> list[Call]:
        """Return the tool calls of all requests."""
        if self._calls is None:
            self._calls = [call for turn in self.turns for call in turn.calls]
        return self._calls

    def count_calls(self) -> int:
        """Return how many tool calls there are in requests, without making parts of them."""
        return sum([len(turn.ids) for turn in self.turns])

    @property
    def chunks(self) -> list[Body]:
        """Return the chunks of all streams; an event that tells of an error, or comes after the end mark, is none."""
        if self._chunks is None:
            self._chunks = [
                Body((*stream.place, number), chunk, self.conversation[int(stream.place[0])])
                for stream in self.streams
                for number, chunk in enumerate(stream.value.chunks[: _end(stream.value)])
                if type(chunk) is dict and "error" not in chunk
            ]
        return self._chunks

    def count_chunks(self) -> int:
        """Return how many events the streams have."""
        return sum([len(stream.value.chunks) for stream in self.streams])

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
        last_user = _last_user(messages)
        position, end = 0, len(messages)
        while position < end:
            value = messages[position]
            role = value.get("role") if type(value) is dict else None
            if role == "assistant":
                calls = value.get("tool_calls")
                if type(calls) is list and calls:
                    position = self._read_turn(number, body, position, current=position > last_user)
                    continue
                place = (number, "request", "messages", position)
                self.plain_turns.append(Message(place, value, role, position, body))
            elif role == "tool":
                place = (number, "request", "messages", position)
                self.results.append(
                    Result(place, value, value.get("tool_call_id"), None, adjacent=False, number=position)
                )
            position += 1

    def _read_turn(self, number: int, body: dict[str, Any], start: int, *, current: bool) -> int:
        """Read an assistant message with tool calls and what follows it; return where the next one may begin."""
        messages = body["messages"]
        value = messages[start]
        ids = [call.get("id") if type(call) is dict else None for call in value["tool_calls"]]
        found: list[tuple[int, bool]] = []
        adjacent = straight = True
        position, end = start + 1, len(messages)
        while position < end:
            message = messages[position]
            role = message.get("role") if type(message) is dict else None
            if role == "tool":
                found.append((position, adjacent))
                straight = straight and adjacent
            elif role == "assistant":
                break
            else:
                adjacent = False
            position += 1
        paired = straight and ids == [messages[at].get("tool_call_id") for at, _ in found]
        results: list[Result] = []
        turn = Turn((number, "request", "messages", start), value, ids, results, current, paired, start, body)
        for at, near in found:
            message = messages[at]
            place = (number, "request", "messages", at)
            results.append(Result(place, message, message.get("tool_call_id"), turn, near, at))
        self.turns.append(turn)
        self.results += results
        return position

    def _read_answer(self, number: int, exchange: Exchange) -> None:
        response, status = exchange.response, exchange.status
        place = (number, "response")
        request = exchange.request if type(exchange.request) is dict else None
        answer = Body(place, response, exchange)
        self.answers.append(answer)
        if status is not None and status >= 400:
            self.errors.append(answer)
        elif type(response) is dict:
            self._read_plain(answer, response, request)
        elif type(response) is str and exchange.streamed:
            self._read_stream(answer, response, request)

    def _read_plain(self, answer: Body, body: dict[str, Any], request: dict[str, Any] | None) -> None:
        self.responses.append(answer)
        place = answer.place
        choices = body.get("choices")
        for position, choice in enumerate(choices if type(choices) is list else ()):
            message = choice.get("message") if type(choice) is dict else None
            if type(message) is dict:
                at = (*place, "choices", position)
                self._add_reply(at, message, choice.get("finish_reason"), request, streamed=False, complete=True)
        usage = body.get("usage")
        if type(usage) is dict:
            self.usages.append(Usage((*place, "usage"), usage, request, streamed=False))

    def _read_stream(self, answer: Body, text: str, request: dict[str, Any] | None) -> None:
        place = answer.place
        stream = assemble(read(text))
        self.streams.append(Streamed(place, stream, request))
        for choice in stream.choices:
            at = (*place, "choices", choice.index)
            complete = choice.finish_reason is not None
            self._add_reply(at, choice.message, choice.finish_reason, request, streamed=True, complete=complete)
            self._move_calls([(*place, *opened) for opened in choice.calls])
        if stream.usage is not None:
            self.usages.append(Usage((*place, *stream.facts["usage"][-1].at), stream.usage, request, streamed=True))

    def _move_calls(self, opened: list[Place]) -> None:
        """Let the calls of the last reply stand where the stream opens them."""
        reply = self.replies[-1]
        if len(opened) == len(reply.calls):
            reply.calls[:] = [call._replace(place=at) for call, at in zip(reply.calls, opened, strict=True)]
            self.reply_calls[len(self.reply_calls) - len(opened) :] = reply.calls

    def _add_reply(
        self,
        place: Place,
        message: dict[str, Any],
        finish_reason: Any,
        request: dict[str, Any] | None,
        *,
        streamed: bool,
        complete: bool,
    ) -> None:
        listed = message.get("tool_calls")
        calls = _calls(listed, (*place, "message"), request) if type(listed) is list else []
        self.reply_calls += calls
        self.replies.append(Reply(place, message, finish_reason, calls, request, streamed, complete))

    def _match_resent(self) -> None:
        """Pair each reply with the messages of later requests that carry it back.

        A reply to a request that held n assistant messages comes back as the one at position n; clients that
        merge or drop turns are met by looking for the same words and calls among the others.
        """
        assistants = [_assistants(exchange.request) for exchange in self.conversation]
        for reply in self.replies:
            asked = int(reply.place[0])
            expected = len(assistants[asked])
            for later in range(asked + 1, len(self.conversation)):
                found = _find(reply, assistants[later], expected)
                if found is not None:
                    position, value = found
                    messages = self.conversation[later].request["messages"]
                    current = position > _last_user(messages)
                    self.resent.append(Resent((later, "request", "messages", position), value, reply, current))


def _end(stream: Stream) -> int | None:
    """Return the number of the first event after the end mark, or None where none comes."""
    late = stream.facts.get("after-done")
    return int(late[0].at[0]) if late else None


def _last_user(messages: list[Any]) -> int:
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if type(message) is dict and message.get("role") == "user":
            return position
    return -1


def _assistants(body: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the assistant messages of a request, each with its position."""
    messages = body.get("messages") if type(body) is dict else None
    return [
        (position, message)
        for position, message in enumerate(messages if type(messages) is list else ())
        if type(message) is dict and message.get("role") == "assistant"
    ]


def _calls(listed: list[Any], place: Place, request: dict[str, Any] | None) -> list[Call]:
    calls = []
    for position, value in enumerate(listed):
        if type(value) is dict:
            function = value.get("function")
            if type(function) is not dict:
                function = {}
            at = (*place, "tool_calls", position)
            calls.append(
                Call(at, value, value.get("id"), function.get("name"), function.get("arguments"), position, request)
            )
    return calls


def _find(
    reply: Reply, assistants: list[tuple[int, dict[str, Any]]], expected: int
) -> tuple[int, dict[str, Any]] | None:
    if expected < len(assistants) and _is_same(reply, assistants[expected][1]):
        return assistants[expected]
    return next((found for found in assistants if _is_same(reply, found[1])), None)


def _is_same(reply: Reply, value: dict[str, Any]) -> bool:
    """Say whether a message says and calls what a reply said and called; ids and reasoning are not looked at."""
    listed = value.get("tool_calls")
    calls = _calls(listed, (), None) if type(listed) is list else []
    if len(calls) != len(reply.calls) or any(a.name != b.name for a, b in zip(calls, reply.calls, strict=True)):
        return False
    if calls:
        return any(a.id == b.id or a.arguments == b.arguments for a, b in zip(calls, reply.calls, strict=True))
    said = _text(reply.message.get("content"))
    return bool(said) and _text(value.get("content")) == said


def _text(content: Any) -> str:
    if type(content) is list:
        parts = (part.get("text") for part in content if type(part) is dict)
        return "".join(part for part in parts if type(part) is str).strip()
    return content.strip() if type(content) is str else ""
