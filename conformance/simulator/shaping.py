"""A turn of the script, shaped by the parameters of a request: in the wanted format, and cut where it has to end."""

from dataclasses import replace
from typing import Final

import orjson

from conformance.scenarios import ScriptTurn, arguments_text
from conformance.schemas import check_schema
from conformance.simulator.instances import obeys, sample
from conformance.simulator.parameters import Parameters

CHARACTERS_PER_TOKEN: Final = 4

MAX_CHARACTERS: Final = 64 * 1024
"""The most characters of a reply, over all its choices; a schema and `n` can ask for gigabytes."""


def formatted(turn: ScriptTurn, parameters: Parameters) -> ScriptTurn | None:
    """Return a turn whose answer is JSON that obeys the requested schema; None if no such JSON was found.

    A turn that calls tools keeps its text: the format is that of the answer.
    """
    schema = parameters.schema
    if schema is None or turn.calls:
        return turn
    if check_schema(schema):
        return None
    answer = sample(schema, turn.says, optional=True)
    if not obeys(schema, answer):
        answer = sample(schema, turn.says)
    return replace(turn, says=orjson.dumps(answer).decode()) if obeys(schema, answer) else None


def length(turn: ScriptTurn, parameters: Parameters) -> int:
    """Return how many characters a reply has, over all its choices and before it is cut."""
    texts = [turn.thinks, turn.says, *[arguments_text(arguments) for _, arguments in turn.calls]]
    return parameters.choices * sum(map(len, texts))


def bounded(turn: ScriptTurn, parameters: Parameters, *, thinks: bool) -> tuple[ScriptTurn, bool]:
    """Return a turn that ends before a stop text and within the token limit, and whether the limit cut it.

    The limit holds for reasoning, answer and arguments together, in this order, as at most providers.
    """
    turn = _stopped(turn, parameters.stops)
    if parameters.limit is None:
        return turn, False
    left = parameters.limit * CHARACTERS_PER_TOKEN
    calls = [(name, arguments_text(arguments)) for name, arguments in turn.calls]
    texts = [turn.thinks if thinks else "", turn.says, *[text for _, text in calls]]
    if sum([len(text) for text in texts]) <= left:
        return turn, False
    cut: list[str] = []
    for text in texts:
        cut.append(text[:left])
        left -= len(cut[-1])
    kept = tuple([(name, text) for (name, _), text in zip(calls, cut[2:], strict=True) if text])
    return replace(turn, thinks=cut[0], says=cut[1], calls=kept, ids=turn.ids[: len(kept)]), True


def _stopped(turn: ScriptTurn, stops: tuple[str, ...]) -> ScriptTurn:
    """Return a turn whose answer ends before the first stop text in it."""
    found = [position for position in [turn.says.find(stop) for stop in stops] if position >= 0]
    return replace(turn, says=turn.says[: min(found)], calls=(), ids=()) if found else turn
