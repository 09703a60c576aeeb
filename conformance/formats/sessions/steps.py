"""The steps of a session, and the exchanges that they make: each reply with the history that was sent for it.

Agents store what was said, not what was sent. A request is therefore the history so far, in the form of its wire.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance.documents import JSON
from conformance.formats.inputs import Input
from conformance.wire.exchange import Exchange

RULES: Final = (
    "transcript/[!r]*",
    "transcript/reply-*",
    "transcript/result-*",
    "transcript/results-follow-calls",
    "request/tool-call-id-not-empty",
    "request/tool-call-ids-unique*",
    "tool-calls/id-not-empty",
    "tool-calls/id-unique-*",
    "tool-calls/no-markup",
    "response/no-markup-in-content",
    "reasoning/no-markup",
    "gemini/call-ids-unique",
    "gemini/response-named-as-its-call",
    "error/[!bc]*",
)
"""The rules for which a history is enough. Others would judge what an agent adds, converts or drops when it sends.

Results are stored as they come, so their order says nothing.
"""

NOTE: Final = (
    "holds what was said, not what was sent: pairing, ids, history, markup and failures are checked, and nothing about"
    " parameters, shapes, usage and streams; record the traffic with conformance proxy to check those"
)
_OPEN: Final = "ends with a request that has no reply: {0}"
_MAX_ITEMS: Final = 20_000
"""How many items all requests of a conversation have at most: they grow with the square of its length."""
_EARLY: Final = "in this long session, the requests before the first {0} replies are checked as history of later ones"
_REPLY_RULES: Final = tuple([rule for rule in RULES if not rule.startswith(("transcript/", "request/"))])

_URLS: Final = {
    "chat": "/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/model:generateContent",
}
_LISTS: Final = {"chat": "messages", "messages": "messages", "responses": "input", "gemini": "contents"}
_BLOCKS: Final = {"messages": "content", "gemini": "parts"}
"""By wire: where a message holds its blocks, if messages of one side are sent as one."""


class Added(NamedTuple):
    """What the client adds to the history: items of its wire."""

    items: Sequence[Mapping[str, Any]]
    line: int | None = None


class Replied(NamedTuple):
    """A reply: its body, and the items with which the history goes on."""

    items: Sequence[Mapping[str, Any]]
    body: Mapping[str, Any]
    line: int | None = None
    model: str = ""
    date: str = ""


class Refused(NamedTuple):
    """A request that failed: its HTTP status, None if the agent stores none, and the error body as far as it did."""

    status: int | None
    body: Mapping[str, Any]
    line: int | None = None
    model: str = ""
    date: str = ""


class Interrupted(NamedTuple):
    """The results that the agent sends itself for calls that have none: they follow the reply with these calls."""

    items: Sequence[Mapping[str, Any]]


Step = Added | Replied | Refused | Interrupted


@dataclass(frozen=True, slots=True)
class AgentSession:
    """One conversation of an agent: its steps on a wire; `provider`, `session`: as the agent names them.

    `rules`: globs of the rules for which it holds enough. `unstored`: where to look for the failure that left the last
    request without a reply, if the agent may not store it.
    """

    wire: str
    steps: Sequence[Step]
    session: str = ""
    provider: str = ""
    notes: tuple[str, ...] = ()
    rules: tuple[str, ...] = RULES
    unstored: str = ""


def inputs_of(session: AgentSession, path: str, kind: str) -> Iterator[Input]:
    """Yield the input of a conversation, after that of its early replies if it is long; none if it has no replies."""
    outcomes = [step for step in session.steps if isinstance(step, (Replied, Refused))]
    if not outcomes:
        return
    early = _early(session.steps, len(outcomes))
    if early:
        yield _replies(session, outcomes[:early], path, kind)
    exchanges = tuple(_exchanges(session, early))
    lines = tuple([step.line for step in outcomes[early:] if step.line is not None])
    is_open = session.unstored and not isinstance(session.steps[-1], (Replied, Refused))
    notes = (*session.notes, *((_EARLY.format(early),) if early else ()), NOTE)
    notes += (_OPEN.format(session.unstored),) if is_open else ()
    yield Input(
        path,
        lines[0] if lines else None,
        kind,
        exchanges,
        session.provider,
        session.session,
        lines=lines if len(lines) == len(exchanges) else (),
        notes=notes,
        rules=session.rules,
    )


def _replies(session: AgentSession, outcomes: Sequence[Replied | Refused], path: str, kind: str) -> Input:
    """Return the input of replies without their requests."""
    url = _URLS[session.wire]
    statuses = [step.status if isinstance(step, Refused) else None for step in outcomes]
    exchanges = [
        Exchange.of_plain(None, dict(step.body), status, url=url, model=step.model, date=step.date)
        for step, status in zip(outcomes, statuses, strict=True)
    ]
    lines = tuple([step.line for step in outcomes if step.line is not None])
    located = lines if len(lines) == len(exchanges) else ()
    rules = tuple([rule for rule in session.rules if rule in _REPLY_RULES])
    line = lines[0] if lines else None
    return Input(
        path, line, kind, tuple(exchanges), session.provider, session.session, lines=located, notes=(NOTE,), rules=rules
    )


def _early(steps: Sequence[Step], outcomes: int) -> int:
    """Return how many of the first outcomes cannot have a request of their own within the bound."""
    items = sum(len(step.items) for step in steps if not isinstance(step, Refused))
    return max(0, outcomes - max(1, _MAX_ITEMS // max(1, items)))


def _exchanges(session: AgentSession, early: int) -> Iterator[Exchange]:
    items: list[Mapping[str, Any]] = []
    seen, is_open = 0, False
    for step in session.steps:
        if isinstance(step, (Added, Interrupted)):
            for item in step.items:
                is_open = _add(items, item, session.wire, is_open=is_open)
            continue
        seen += 1
        if seen > early:
            yield _exchange(session.wire, items, step)
        # What a failed request held stays as it was, so that the next one only adds to it.
        is_open = False
        if isinstance(step, Replied):
            items += step.items


def _add(items: list[Mapping[str, Any]], item: Mapping[str, Any], wire: str, *, is_open: bool) -> bool:
    """Add what a client says, to its last message if its wire takes one message for all; return whether more may be."""
    key = _BLOCKS.get(wire, "")
    is_same = is_open and items and items[-1].get("role") == item.get("role")
    if key and is_same and isinstance(item.get(key), list) and isinstance(items[-1].get(key), list):
        items[-1] = {**items[-1], key: [*items[-1][key], *item[key]]}
    else:
        items.append(item)
    return bool(key)


def _exchange(wire: str, items: Sequence[Mapping[str, Any]], step: Replied | Refused) -> Exchange:
    request: dict[str, JSON] = {**({"model": step.model} if step.model else {}), _LISTS[wire]: list(items)}
    status = step.status if isinstance(step, Refused) else None
    url = _URLS[wire]
    return Exchange.of_plain(request, dict(step.body), status, url=url, model=step.model, date=step.date)
