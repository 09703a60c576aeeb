"""What loop facts look at: a session, the job that was driven through it, and the driver's answer.

Requests are matched with the script's turns by order alone: the first accepted request gets the first turn, and a
request that equals the previous one, or asks again for its truncated reply, gets that one's turn again. Everything else
is matched by texts and calls, since adapters rewrite ids and delete, merge and reorder messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place
from conformance.scenarios import Scenario, ScriptTurn
from conformance.simulator.repeats import asks_again
from conformance.wire.elements import Call, Reply, Resent, Result
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index
from conformance.wire.same_calls import same_arguments
from conformance.wire.text import content_text

_COMPLETE: Final = frozenset(
    {"stop", "endturn", "completed", "complete", "success", "stopsequence", "toolcalls", "tooluse", "functioncall"}
)
"""The words with which adapters say that a reply is complete, without case and signs between words."""


@dataclass(frozen=True, slots=True)
class RaisedError:
    """An error that the adapter raised: the name of its class, and its message."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """What a loop did with calls: `gate`, `start` or `end`; a call is its name and its arguments.

    `asked` is the approval of one call, for clients that do not report the gate of a whole batch.
    """

    event: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    at_ms: float


@dataclass(frozen=True, slots=True)
class DriverAnswer:
    """What a driver reports about a job.

    `texts` are the final texts of the prompts, as far as the conversation got: None for a prompt that ended without
    one, and None as a whole if they are not reported. `finish` is what the adapter itself says of the end of each, in
    its own words. `versions` are those of the packages that were loaded.
    """

    texts: tuple[str | None, ...] | None = None
    error: RaisedError | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    events: tuple[LoopEvent, ...] = ()
    finish: tuple[str | None, ...] = ()

    def marks_interrupted(self, prompt: int) -> bool:
        """Return whether the adapter says that a prompt (counted from 0) did not end as a complete answer does."""
        said = self.finish[prompt] if prompt < len(self.finish) else None
        return bool(said) and _plain(str(said)) not in _COMPLETE

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DriverAnswer":
        """Return the answer in a document that is valid by `schemas/files/adapter-answer.json`."""
        error = value.get("error")
        return cls(
            tuple(value["texts"]),
            None if error is None else RaisedError(error["type"], error["message"]),
            value.get("version", {}),
            tuple([_event(event) for event in value.get("events", ())]),
            tuple(value.get("finish", ())),
        )


class ResultSlot(NamedTuple):
    """The place for the result of one call in a request; `text` is None if there is no tool message for the call."""

    place: Place
    text: str | None


class Batch(NamedTuple):
    """The calls of one reply, how the job says that each behaves, and the results in the first request with them.

    `slots` has one entry per call, in order; it is empty if no later request has these calls. `place` is that of the
    message with the calls in that request, or of the reply. `repeats`: the slots in each further request with these
    calls, in order.
    """

    place: Place
    exchange: int
    calls: Sequence[Call]
    behaviours: Sequence[Mapping[str, Any]]
    slots: Sequence[ResultSlot]
    repeats: Sequence[Sequence[ResultSlot]] = ()


class Prompt(NamedTuple):
    """A user's message, the requests that belong to it, and the final text expected for it.

    `number` counts from 0. `requests` are numbers of exchanges. `place` is that of the last of them, or of the
    session's last exchange if there are none.
    """

    place: Place
    number: int
    expected: str
    requests: Sequence[int]


class SessionRequest(NamedTuple):
    """A request: its number and the turn of the script that it got, None if it was refused or beyond the script."""

    place: Place
    number: int
    turn: int | None


# No slots: each property is computed once and cached.
@dataclass(frozen=True)
class ClientSession:
    """A whole session of a client.

    `job` is the document that the driver got. `moments` has, for each exchange, when its request arrived and when its
    reply was sent, in seconds. `refused` maps exchanges to the id of the rule for which a strict session refused the
    request. `needs_finish`: complete streams of this provider have a finish reason. `given`: the number of the turn
    that each exchange got, if the session knows it better than the order shows. `restarts`: the exchanges with which
    another history begins.
    """

    scenario: Scenario
    conversation: Conversation
    job: Mapping[str, Any]
    answer: DriverAnswer = field(default_factory=DriverAnswer)
    moments: Sequence[tuple[float, float]] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    needs_finish: bool = True
    given: Sequence[int | None] | None = None
    restarts: Sequence[int] = ()

    @cached_property
    def index(self) -> Index:
        """Return the elements of the conversation."""
        return Index(self.conversation)

    @cached_property
    def requests(self) -> tuple[SessionRequest, ...]:
        """Return every request with the turn that it got."""
        if self.given is not None:
            return tuple([SessionRequest((at, "request"), at, turn) for at, turn in enumerate(self.given)])
        found: list[SessionRequest] = []
        turn = -1
        for number, exchange in enumerate(self.conversation):
            accepted = (exchange.status or 200) < 400
            if accepted and (turn < 0 or not self._is_repeated(number, turn)):
                turn += 1
            got = turn if accepted and turn < len(self.scenario.turns) else None
            found.append(SessionRequest((number, "request"), number, got))
        return tuple(found)

    def _is_repeated(self, number: int, turn: int) -> bool:
        """Return whether a request gets the turn again that the accepted request before it got."""
        before, request = self.conversation[number - 1], self.conversation[number].request
        turns = self.scenario.turns
        given = turns[turn] if turn < len(turns) else ScriptTurn()
        return request == before.request or asks_again(given, before, request, self.scenario.prompts)

    @cached_property
    def prompts(self) -> tuple[Prompt, ...]:
        """Return the prompts of the job with the exchanges that belong to each."""
        turns: list[list[int]] = []
        for number, turn in enumerate(self.scenario.turns):
            if turn.user is not None:
                turns.append([])
            turns[-1].append(number)
        return tuple([self._prompt(number, own) for number, own in enumerate(turns)])

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """Return the calls of every complete reply; of a reply that was sent twice, only the later one's."""
        latest = {self.requests[int(reply.place[0])].turn: reply for reply in self.index.replies if reply.calls}
        resent: dict[int, list[Resent]] = {}
        for each in self.index.resent:
            resent.setdefault(id(each.reply), []).append(each)
        complete = [reply for reply in latest.values() if not self.is_incomplete(reply)]
        return tuple([self._batch(reply, resent.get(id(reply), [])) for reply in complete])

    def is_incomplete(self, reply: Reply) -> bool:
        """Return whether the stream of a reply ended without a finish reason, or with an error."""
        return int(reply.place[0]) in self.incomplete

    @cached_property
    def incomplete(self) -> frozenset[int]:
        """Return the exchanges whose replies have status 200 but are not answers: truncated, or errors."""
        complete = {int(reply.place[0]) for reply in self.index.replies if reply.complete or not self.needs_finish}
        failed = {int(stream.place[0]) for stream in self.index.streams if stream.value.error is not None}
        return frozenset(
            [
                number
                for number, exchange in enumerate(self.conversation)
                if (exchange.status or 200) < 400 and (number not in complete or number in failed)
            ]
        )

    def behaviour(self, name: Any, arguments: Any) -> Mapping[str, Any]:
        """Return how the job says that a call behaves, by its name and its arguments."""
        # An object in place of its text names the same call.
        parsed = arguments if type(arguments) is dict else parse_arguments(arguments)
        unknown: Mapping[str, Any] = {"otherwise": "", "results": ()}
        tool = next((tool for tool in self.job["tools"] if tool["name"] == name), unknown)
        otherwise = {"arguments": parsed, "text": tool["otherwise"], "delay_ms": 0, "fails": False, "denied": False}
        return next((result for result in tool["results"] if result["arguments"] == parsed), otherwise)

    def _prompt(self, number: int, turns: Sequence[int]) -> Prompt:
        own = [request.number for request in self.requests if request.turn in turns]
        last: ScriptTurn = self.scenario.turns[turns[-1]]
        place = (own[-1] if own else len(self.conversation) - 1,)
        return Prompt(place, number, last.says, own)

    def _batch(self, reply: Reply, resent: Sequence[Resent]) -> Batch:
        number = int(reply.place[0])
        behaviours = [self.behaviour(call.name, call.arguments) for call in reply.calls]
        if not resent:
            return Batch(reply.place, number, reply.calls, behaviours, ())
        slots, *repeats = [self._slots(reply, each) for each in resent]
        return Batch(resent[0].place, number, reply.calls, behaviours, slots, repeats)

    def _slots(self, reply: Reply, resent: Resent) -> list[ResultSlot]:
        """Return the slot of each call; calls that were sent back are matched by content, then by position."""
        turn = next((turn for turn in self.index.turns if turn.place == resent.place), None)
        if turn is None:
            return []
        results = _results_by_position(turn.ids, turn.results)
        slots = []
        taken: set[int] = set()
        for call in reply.calls:
            position = _position_of(call, turn.calls, taken)
            taken.add(position)
            result = results.get(position)
            text = None if result is None else content_text(result.value.get("content"))
            slots.append(ResultSlot(resent.place if result is None else result.place, text))
        return slots


def _plain(word: str) -> str:
    """Return a word such as `END_TURN`, `end-turn` or `FinishReason.STOP` in one form."""
    return "".join([letter for letter in word.rpartition(".")[2].casefold() if letter.isalnum()])


def parse_arguments(arguments: Any) -> Any:
    """Return the arguments of a call as values; absent or unparsable arguments are an empty object."""
    if not isinstance(arguments, str):
        return {}
    try:
        return orjson.loads(arguments) or {}
    except orjson.JSONDecodeError:
        return {}


def is_malformed(arguments: Any) -> bool:
    """Return whether arguments cannot be parsed as an object; the result of such a call is the client's choice."""
    if not isinstance(arguments, str) or not arguments.strip():
        return False
    try:
        return not isinstance(orjson.loads(arguments), dict)
    except orjson.JSONDecodeError:
        return True


def contains(text: str, expected: str) -> bool:
    """Return whether a result contains a text, verbatim or escaped as in a JSON string."""
    escaped = orjson.dumps(expected).decode()[1:-1]
    ascii_only = escaped.encode("ascii", "backslashreplace").decode()
    return expected in text or escaped in text or ascii_only in text


def _event(value: Mapping[str, Any]) -> LoopEvent:
    calls = value["calls"] if value["event"] == "gate" else [value["call"]]
    return LoopEvent(value["event"], tuple([(call["name"], call["arguments"]) for call in calls]), value["at_ms"])


def _results_by_position(ids: Sequence[Any], results: Sequence[Result]) -> dict[int, Result]:
    """Return the result of each call by the call's position: matched by id if the ids are distinct, else by order."""
    distinct = {each for each in ids if isinstance(each, str) and each}
    if len(distinct) == len(ids) and all(result.id in ids for result in results):
        return {ids.index(result.id): result for result in reversed(results)}
    return dict(enumerate(results))


def _position_of(call: Call, resent: Sequence[Call], taken: set[int]) -> int:
    """Return the position of a call among those that were sent back."""
    equal = [
        position
        for position, other in enumerate(resent)
        if position not in taken and other.name == call.name and same_arguments(other.arguments, call.arguments)
    ]
    if call.position in equal or not equal:
        return call.position
    return equal[0]
