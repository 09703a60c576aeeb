"""What findings point at, quoted, so that a report can show it without the conversation."""

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

BOUND: Final = 300
"""How many characters an excerpt has at most."""

KEPT: Final = 3
"""How many findings of one rule in one case are kept."""

_MESSAGE: Final = 2
"""How many tokens lead from a request to one of its messages."""

_LAST: Final = 2
"""How many events of a stream are quoted where all of it is meant."""


Say: TypeAlias = Callable[[str], str]
"""Takes out of a text what changes from run to run; done before it is cut, because half an id is not known for one."""


def quoted(
    outcomes: tuple[Outcome, ...], conversation: Conversation, say: Say = lambda text: text
) -> tuple[Outcome, ...]:
    """Return outcomes whose findings quote what they point at, and of a reply also what it answers.

    Of many findings the first few are kept, with how many more there were: one fault comes back in every later request.
    """
    return tuple([_outcome(each, conversation, say) if each.findings else each for each in outcomes])


def _outcome(outcome: Outcome, conversation: Conversation, say: Say) -> Outcome:
    found = outcome.findings
    kept = [_finding(each, conversation, say) for each in found[:KEPT]]
    if len(found) > KEPT:
        kept.append(Finding(found[-1].at, f"and {len(found) - KEPT} more findings of this rule", Level.MAY))
    return replace(outcome, findings=tuple(kept))


def _finding(finding: Finding, conversation: Conversation, say: Say) -> Finding:
    tokens = parse(finding.at)
    if len(tokens) < 2 or not tokens[0].isdecimal() or int(tokens[0]) >= len(conversation):
        return finding
    exchange, side, inside = conversation[int(tokens[0])], tokens[1], tokens[2:]
    if side == "request":
        least = _MESSAGE if inside[:1] == ("messages",) else 1
        return replace(finding, excerpt=_around(exchange.request, inside, least, say))
    root, at = _reply(exchange, inside)
    return replace(finding, excerpt=_around(root, at, 0, say), asked=_asked(exchange.request, say))


def _reply(exchange: Exchange, inside: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Return what a pointer into a reply goes down from: the body, one chunk, or what the chunks come to."""
    text = exchange.response
    if not isinstance(text, str) or not exchange.streamed:
        return text, inside
    events = sse.read(text).data
    if not inside:
        # What is wrong with a stream as a whole is mostly wrong at its end.
        return list(events[-_LAST:]), ()
    if not inside[0].isdecimal():
        made = [
            {"message": each.message, "finish_reason": each.finish_reason} for each in assemble(sse.read(text)).choices
        ]
        return {"choices": made}, inside
    data = events[int(inside[0])] if int(inside[0]) < len(events) else ""
    try:
        return parse_json(data), inside[1:]
    except InvalidDocument:
        return data, ()


def _around(value: Any, inside: tuple[str, ...], least: int, say: Say) -> str:
    """Return the largest value on the way to a place that fits whole, else the innermost one, cut.

    `least`: how far to go down at least. A place that is not there, as of a key that is missed, is what lies around it.
    """
    texts = [say(orjson.dumps(each).decode()) for each in _down(value, inside)]
    fitting = [text for text in texts[min(least, len(texts) - 1) :] if len(text) <= BOUND]
    return fitting[0] if fitting else _cut(texts[-1])


def _down(value: Any, inside: tuple[str, ...]) -> Iterator[Any]:
    for depth in range(len(inside) + 1):
        try:
            yield resolve(value, render(inside[:depth]))
        except LookupError:
            return


def _asked(request: Any, say: Say) -> str:
    """Return the last message of a request."""
    messages = request.get("messages") if isinstance(request, dict) else None
    return _cut(say(orjson.dumps(messages[-1]).decode())) if isinstance(messages, list) and messages else ""


def _cut(text: str) -> str:
    return text if len(text) <= BOUND else f"{text[: BOUND - 1]}…"
