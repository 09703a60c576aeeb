"""What loop facts look at: a session, the job that it was played by, and the driver's answer.

Requests are told by order alone: the first that is accepted gets the script's first turn, and one that is equal to the
one before is that turn asked again. Everything else is told by what was said and called, since adapters rewrite ids
and delete, merge and reorder messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from conformance.adapters.loop._answer import Answer
from conformance.documents.pointer import Place
from conformance.scenarios import Scenario, Turn
from conformance.wire.elements import Call, Reply, Resent, Result
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index
from conformance.wire.resent import same_arguments
from conformance.wire.text import content_text


class Slot(NamedTuple):
    """What stands in a request for the result of one call; `text` is None where no tool message is there for it."""

    place: Place
    text: str | None


class Batch(NamedTuple):
    """The calls of one reply, with what the job says of each, and what the first request that carries them brings.

    `slots`: one a call, in the calls' order; empty where no later request has these calls. `place` is that of the
    message which carries them, else that of the reply.
    """

    place: Place
    exchange: int
    calls: Sequence[Call]
    behaviours: Sequence[Mapping[str, Any]]
    slots: Sequence[Slot]


class Prompt(NamedTuple):
    """What the user asks, and what becomes of it.

    `number` counts prompts from 0, `expected` is what the model says at its end, `asked` are the exchanges that belong
    to it. `place` leads to the last of them, to the last of all where there is none.
    """

    place: Place
    number: int
    expected: str
    asked: Sequence[int]


class Asked(NamedTuple):
    """One request: its number, the script's turn that it got (None: beyond the script, or refused)."""

    place: Place
    number: int
    turn: int | None


# No slots: what is found in a session is found once and kept.
@dataclass(frozen=True)
class Played:
    """One session, whole.

    `job` is the document that the driver was given. `moments`: for each exchange when its request arrived and its reply
    was sent, in seconds. `refused`: by exchange, the id of the rule for which a strict session refused its request.
    `needs_finish`: a stream of this provider always says why it ends.
    """

    scenario: Scenario
    conversation: Conversation
    job: Mapping[str, Any]
    answer: Answer = field(default_factory=Answer)
    moments: Sequence[tuple[float, float]] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    needs_finish: bool = True

    @cached_property
    def index(self) -> Index:
        """Return the parts of the conversation."""
        return Index(self.conversation)

    @cached_property
    def asked(self) -> tuple[Asked, ...]:
        """Return every request with the turn that it got."""
        found: list[Asked] = []
        turn = -1
        before: Any = None
        for number, exchange in enumerate(self.conversation):
            accepted = (exchange.status or 200) < 400
            if accepted and (turn < 0 or exchange.request != before):
                turn += 1
            before = exchange.request
            due = turn if accepted and turn < len(self.scenario.turns) else None
            found.append(Asked((number, "request"), number, due))
        return tuple(found)

    @cached_property
    def prompts(self) -> tuple[Prompt, ...]:
        """Return the prompts of the job, each with the exchanges that belong to it."""
        turns: list[list[int]] = []
        for number, turn in enumerate(self.scenario.turns):
            if turn.user is not None:
                turns.append([])
            turns[-1].append(number)
        return tuple([self._prompt(number, own) for number, own in enumerate(turns)])

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """Return the calls of every whole reply; of a reply that was given twice only those of the last."""
        latest = {self.asked[int(reply.place[0])].turn: reply for reply in self.index.replies if reply.calls}
        carried: dict[int, Resent] = {}
        for part in self.index.resent:
            carried.setdefault(id(part.reply), part)
        return tuple([self._batch(each, carried.get(id(each))) for each in latest.values() if not self.is_broken(each)])

    def is_broken(self, reply: Reply) -> bool:
        """Say whether a reply broke off: its stream ended without a reason, or with an error."""
        return int(reply.place[0]) in self.broken

    @cached_property
    def broken(self) -> frozenset[int]:
        """Return the exchanges whose replies have status 200 and are yet no answers: broken off, or errors."""
        whole = {int(reply.place[0]) for reply in self.index.replies if reply.complete or not self.needs_finish}
        failed = {int(part.place[0]) for part in self.index.streams if part.value.error is not None}
        return frozenset(
            [
                number
                for number, exchange in enumerate(self.conversation)
                if (exchange.status or 200) < 400 and (number not in whole or number in failed)
            ]
        )

    def behaviour(self, name: Any, arguments: Any) -> Mapping[str, Any]:
        """Return how the job says that a call behaves, by its name and its arguments."""
        given = parsed(arguments)
        tool = next((tool for tool in self.job["tools"] if tool["name"] == name), None)
        if tool is None:
            return {"arguments": given, "text": "", "delay_ms": 0, "fails": False, "denied": False}
        otherwise = {"arguments": given, "text": tool["otherwise"], "delay_ms": 0, "fails": False, "denied": False}
        return next((each for each in tool["results"] if each["arguments"] == given), otherwise)

    def _prompt(self, number: int, turns: Sequence[int]) -> Prompt:
        own = [each.number for each in self.asked if each.turn in turns]
        last: Turn = self.scenario.turns[turns[-1]]
        place = (own[-1] if own else len(self.conversation) - 1,)
        return Prompt(place, number, last.says, own)

    def _batch(self, reply: Reply, carried: Resent | None) -> Batch:
        number = int(reply.place[0])
        behaviours = [self.behaviour(call.name, call.arguments) for call in reply.calls]
        if carried is None:
            return Batch(reply.place, number, reply.calls, behaviours, ())
        return Batch(carried.place, number, reply.calls, behaviours, self._slots(reply, carried))

    def _slots(self, reply: Reply, carried: Resent) -> list[Slot]:
        """Return what stands for each call; the calls sent back are told by what they call, then by their position."""
        turn = next((each for each in self.index.turns if each.place == carried.place), None)
        if turn is None:
            return []
        results = _by_call(turn.ids, turn.results)
        back = turn.calls
        slots = []
        taken: set[int] = set()
        for call in reply.calls:
            at = _same_call(call, back, taken)
            taken.add(at)
            result = results.get(at)
            text = None if result is None else content_text(result.value.get("content"))
            slots.append(Slot(carried.place if result is None else result.place, text))
        return slots


def parsed(arguments: Any) -> Any:
    """Return the arguments of a call as values; what is absent or cannot be parsed is an empty object."""
    if not isinstance(arguments, str):
        return {}
    try:
        return orjson.loads(arguments) or {}
    except orjson.JSONDecodeError:
        return {}


def is_malformed(arguments: Any) -> bool:
    """Say whether arguments cannot be parsed, so that what a client says of them is its own affair."""
    if not isinstance(arguments, str) or not arguments.strip():
        return False
    try:
        return not isinstance(orjson.loads(arguments), dict)
    except orjson.JSONDecodeError:
        return True


def bears(text: str, expected: str) -> bool:
    """Say whether a result holds a text, as it is or as a JSON string writes it."""
    escaped = orjson.dumps(expected).decode()[1:-1]
    ascii_only = escaped.encode("ascii", "backslashreplace").decode()
    return expected in text or escaped in text or ascii_only in text


def _by_call(ids: Sequence[Any], results: Sequence[Result]) -> dict[int, Result]:
    """Return the result of each call by the call's position: told by ids where these are distinct, else by order."""
    told = [each for each in ids if isinstance(each, str) and each]
    if len(set(told)) == len(ids) and all(result.id in ids for result in results):
        return {ids.index(result.id): result for result in reversed(results)}
    return dict(enumerate(results))


def _same_call(call: Call, back: Sequence[Call], taken: set[int]) -> int:
    """Return the position of a call among those sent back."""
    free = [position for position in range(len(back)) if position not in taken]
    alike = [
        position
        for position in free
        if back[position].name == call.name and same_arguments(back[position].arguments, call.arguments)
    ]
    if call.position in alike or not alike:
        return call.position
    return alike[0]
