"""The requests of a discovery: each is sent once, counted and kept."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.scenarios import Scenario
from conformance.transport.client import Inconclusive, RunStopped, UnusableReply
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wires import by_name

_OK: Final = 200
_STREAM: Final = "stream"
_MARK: Final = "\ufeff"
_SERVER_ERROR: Final = 500
_SAME_ERRORS: Final = 4
"""How often a server error has to come to be the answer to a request, and no failure of the moment."""

_ABOUT_THE_CLIENT: Final = (401, 403, 408, 429)
"""Statuses that are about the key or the number of requests, and say nothing about one of them."""


@dataclass(slots=True)
class Interview:
    """Sends requests to an endpoint; the same body gets the reply that it got before.

    `limit` is the number of requests after which nothing more is sent. `failures` counts the requests in a row that got
    no conclusive answer: after `patience` of them the endpoint counts as broken. `wire` is the one that it speaks.
    `cases` are the scenarios to play, each with its variant; none: all of them. `streams`: whether the endpoint gives
    streams alone, so that each request asks for one. `marked`: whether a reply began with a byte order mark, which JSON
    must not (RFC 8259, 8.1), and which is read as most clients do: without it.
    """

    ask: Callable[[Mapping[str, Any]], Exchange]
    limit: int
    patience: int = 8
    sent: int = 0
    failures: int = 0
    log: Callable[[int], None] = lambda _sent: None
    wire: str = CHAT
    cases: Sequence[tuple[Scenario, str]] = ()
    streams: bool = False
    marked: bool = False
    _answers: dict[str, Exchange | UnusableReply] = field(default_factory=dict)
    _kept: dict[str, Exchange] = field(default_factory=dict)
    _again: set[str] = field(default_factory=set)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Return every exchange so far, in the order in which they were first sent."""
        return tuple(self._kept.values())

    def send(self, body: Mapping[str, Any]) -> Exchange:
        """Return the exchange of a request; raises Inconclusive as the client does, and Unusable at the limit."""
        body = self._asked(body)
        key = self._key(body)
        if key not in self._answers:
            self._answers[key] = self._first(body)
        elif isinstance(self._answers[key], Inconclusive) and key not in self._again:
            # Slow endpoints answer the next time; one that is asked for the third time does not.
            self._again.add(key)
            self._answers[key] = self._first(body)
        answer = self._answers[key]
        if isinstance(answer, UnusableReply):
            raise answer
        return answer

    def again(self, body: Mapping[str, Any]) -> bool:
        """Send a request once more that was rejected; return whether it is accepted now, as flaky endpoints do."""
        body = self._asked(body)
        key = self._key(body)
        if key in self._again:
            return False
        self._again.add(key)
        answer = self._first(body)
        if isinstance(answer, UnusableReply) or _status(answer) != _OK:
            return False
        self._answers[key] = answer
        return True

    def any_answer(self, body: Mapping[str, Any]) -> Exchange | None:
        """Return the exchange of a request whatever its status; None if there was no reply."""
        try:
            return self.send(body)
        except UnusableReply as error:
            return error.exchange

    def played(self, every: Iterable[tuple[Scenario, str]]) -> Iterator[tuple[Scenario, str]]:
        """Yield the cases to play, of every one that there is: of an endpoint with streams alone, those."""
        for scenario, variant in self.cases or every:
            if variant == _STREAM or not self.streams:
                yield scenario, variant

    def _asked(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**body, "stream": True} if self.streams else body

    def _first(self, body: Mapping[str, Any]) -> Exchange | UnusableReply:
        answer = self._once(body)
        status = _status(answer)
        if isinstance(answer, UnusableReply) and status >= _SERVER_ERROR:
            # A server error may be its refusal of the request, if it comes every time.
            for _ in range(_SAME_ERRORS - 1):
                answer = self._once(body)
                if _status(answer) != status:
                    break
            if _status(answer) == status and isinstance(answer, UnusableReply):
                answer = answer.exchange or answer
        elif isinstance(answer, UnusableReply) and self._kept and status not in _ABOUT_THE_CLIENT:
            # After good answers, 404 does not mean a wrong address: the endpoint rejects this request with it.
            answer = answer.exchange or answer
        return self._counted(body, answer)

    def _once(self, body: Mapping[str, Any]) -> Exchange | UnusableReply:
        if self.sent >= self.limit:
            raise Unusable(f"the limit of {self.limit} requests is reached; raise it with --max-requests")
        self.sent += 1
        self.log(self.sent)
        try:
            return self._unmarked(self.ask(body))
        except UnusableReply as error:
            return error

    def _unmarked(self, exchange: Exchange) -> Exchange:
        """Return an exchange whose reply is read without a byte order mark."""
        received = exchange.as_received
        text = received.response
        if type(text) is not str or not text.startswith(_MARK) or received.streamed:
            return exchange
        try:
            value = parse_json(text.removeprefix(_MARK), "response")
        except InvalidDocument:
            return exchange
        self.marked = True
        made = replace(received, response=value)
        return made if self.wire == CHAT else by_name(self.wire).translate_one(made)

    def _counted(self, body: Mapping[str, Any], answer: Exchange | UnusableReply) -> Exchange | UnusableReply:
        exchange = answer.exchange if isinstance(answer, UnusableReply) else answer
        if exchange is not None:
            self._kept[self._key(body)] = exchange
        if isinstance(answer, RunStopped):
            raise Unusable(str(answer))
        self.failures = self.failures + 1 if isinstance(answer, Inconclusive) else 0
        if self.failures >= self.patience:
            raise Unusable(f"the endpoint gave no usable answer {self.failures} times in a row; the last one: {answer}")
        return answer

    def _key(self, body: Mapping[str, Any]) -> str:
        return json.dumps(by_name(self.wire).write(body), sort_keys=True)


def _status(answer: Exchange | UnusableReply) -> int:
    exchange = answer.exchange if isinstance(answer, UnusableReply) else answer
    return 0 if exchange is None or exchange.status is None else exchange.status
