"""Excerpts of what findings point at, so that a report can show it without the conversation."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias

import orjson

from conformance.documents import parse_json
from conformance.documents.pointer import parse, render, resolve
from conformance.errors import InvalidDocument
from conformance.results import Finding, Level, Outcome
from conformance.wire import sse
from conformance.wire.assemble import assemble
from conformance.wire.exchange import Conversation, Exchange

MAX_CHARACTERS: Final = 300
"""The length of an excerpt."""

MAX_FINDINGS: Final = 3
"""How many findings of one rule are kept in one case."""

_MESSAGE: Final = 2
"""How many tokens lead from a request to one of its messages."""

_LISTS: Final = ("messages", "input", "contents")
"""The keys under which a request has its messages: on each wire another one."""

_LAST_EVENTS: Final = 2
"""How many events of a stream are quoted if the finding is about the whole stream."""

Normalize: TypeAlias = Callable[[str], str]
"""Removes from a text what changes from run to run; applied before the text is cut, so that ids are whole."""


def with_excerpts(
    outcomes: tuple[Outcome, ...], conversation: Conversation, normalize: Normalize = lambda text: text
) -> tuple[Outcome, ...]:
    """Return outcomes whose findings have excerpts of what they point at, and for a reply of what it answers.

    Only the first few findings of a rule are kept, then their number: one fault comes back in every later request.
    """
    return tuple([_outcome(each, conversation, normalize) if each.findings else each for each in outcomes])


def _outcome(outcome: Outcome, conversation: Conversation, normalize: Normalize) -> Outcome:
    found = outcome.findings
    kept = [_finding(each, conversation, normalize) for each in found[:MAX_FINDINGS]]
    if len(found) > MAX_FINDINGS:
        more = f"and {len(found) - MAX_FINDINGS} more findings of this rule"
        kept.append(Finding(found[-1].at, more, Level.MAY, side=found[-1].side))
    return replace(outcome, findings=tuple(kept))


def _finding(finding: Finding, conversation: Conversation, normalize: Normalize) -> Finding:
    tokens = parse(finding.at)
    if len(tokens) < 2 or not tokens[0].isdecimal() or int(tokens[0]) >= len(conversation):
        return finding
    exchange, side, inside = conversation[int(tokens[0])].as_received, tokens[1], tokens[2:]
    if side == "request":
        least = _MESSAGE if inside[:1] and inside[0] in _LISTS else 1
        return replace(finding, excerpt=_around(exchange.request, inside, least, normalize))
    root, at = _reply(exchange, inside)
    return replace(finding, excerpt=_around(root, at, 0, normalize), asked=_asked(exchange.request, normalize))


def _reply(exchange: Exchange, inside: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Return the value that a pointer into a reply starts from (body, chunk or assembled message), and its rest."""
    text = exchange.response
    if not isinstance(text, str) or not exchange.streamed:
        return text, inside
    events = sse.read(text).data
    if not inside:
        # A fault of a whole stream is mostly at its end.
        return list(events[-_LAST_EVENTS:]), ()
    if not inside[0].isdecimal():
        assembled = [
            {"message": each.message, "finish_reason": each.finish_reason} for each in assemble(sse.read(text)).choices
        ]
        return {"choices": assembled}, inside
    data = events[int(inside[0])] if int(inside[0]) < len(events) else ""
    try:
        return parse_json(data), inside[1:]
    except InvalidDocument:
        return data, ()


def _around(value: Any, inside: tuple[str, ...], least: int, normalize: Normalize) -> str:
    """Return the largest value on the way to a place that fits without a cut, or else the innermost value, cut.

    `least`: the minimal depth. For a place that does not exist, such as a missing key, it is what surrounds it.
    """
    texts = [normalize(orjson.dumps(each).decode()) for each in _down(value, inside)]
    fitting = [text for text in texts[min(least, len(texts) - 1) :] if len(text) <= MAX_CHARACTERS]
    return fitting[0] if fitting else _cut(texts[-1])


def _down(value: Any, inside: tuple[str, ...]) -> Iterator[Any]:
    for depth in range(len(inside) + 1):
        try:
            yield resolve(value, render(inside[:depth]))
        except LookupError:
            return


def _asked(request: Any, normalize: Normalize) -> str:
    """Return the last message of a request."""
    lists = [request[key] for key in _LISTS if key in request] if isinstance(request, dict) else []
    messages = lists[0] if lists else None
    return _cut(normalize(orjson.dumps(messages[-1]).decode())) if isinstance(messages, list) and messages else ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
