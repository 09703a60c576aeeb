"""Which layer is at fault, and what a gateway changes, where the proxy listens before and behind it.

The exchange before the gateway and the one behind it are matched by a header that the gateway passes on, or by what the
user and the tools said last. What the gateway does to a field is named once, with all positions in lists as one place.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place, render
from conformance.proxy.conversations import replies
from conformance.proxy.judging import Judged, RuleFinding
from conformance.wire.exchange import Exchange
from conformance.wire.text import content_text, quoted

CLIENT: Final = "client"
GATEWAY: Final = "gateway"
PROVIDER: Final = "provider"

BEFORE: Final = "before"
BEHIND: Final = "behind"
"""The side of the gateway that a tap is on."""

MAX_WAITING: Final = 256
"""How many exchanges behind the gateway wait for the one before it."""

_MAX_CHANGES: Final = 500
_ABSENT: Final = object()
_ANY: Final = "*"


class FieldChange(NamedTuple):
    """What the gateway does to a field: the place, with `*` for positions in lists, and what became of it."""

    at: str
    what: str


@dataclass(slots=True)
class Layers:
    """Matches the exchanges of both taps; `changes` counts what the gateway did, by change."""

    changes: dict[FieldChange, int] = field(default_factory=dict)
    matched: int = 0
    _waiting: OrderedDict[tuple[str, ...], list[Judged]] = field(default_factory=OrderedDict)
    _count: int = 0

    def wait(self, judged: Judged, named: str) -> Iterator[Judged]:
        """Keep an exchange behind the gateway; yield those that have waited too long for the one before it."""
        self._waiting.setdefault(_key(judged.exchange, named), []).append(judged)
        self._count += 1
        while self._count > MAX_WAITING:
            _, oldest = self._waiting.popitem(last=False)
            self._count -= len(oldest)
            yield from oldest

    def match(self, judged: Judged, named: str) -> list[Judged]:
        """Return the exchanges behind the gateway that one before it led to, the last one being the answer."""
        found = self._waiting.pop(_key(judged.exchange, named), [])
        self._count -= len(found)
        self.matched += bool(found)
        return found

    def rest(self) -> Iterator[Judged]:
        """Yield the exchanges behind the gateway that none before it led to."""
        for group in self._waiting.values():
            yield from group
        self._waiting.clear()
        self._count = 0

    def new_changes(self, before: Exchange, behind: Exchange) -> Iterator[FieldChange]:
        """Yield what the gateway changes in an exchange and was not seen to change before."""
        asked = _differences(before.request, behind.request, ("request",))
        answered = _differences(_answer(behind), _answer(before), ("response",))
        for change in dict.fromkeys([*asked, *answered]):
            # A gateway may add keys that are new in every exchange, hence the bound below.
            if change in self.changes:
                self.changes[change] += 1
            elif len(self.changes) < _MAX_CHANGES:
                self.changes[change] = 1
                yield change


def layer_before(found: RuleFinding, behind: Judged | None) -> str:
    """Return the layer at fault for a finding before the gateway; empty if that is unknown."""
    return _layer(found, behind, CLIENT, PROVIDER)


def layer_behind(found: RuleFinding, before: Judged | None) -> str:
    """Return the layer at fault for a finding behind the gateway; empty if that is unknown."""
    return _layer(found, before, PROVIDER, CLIENT)


def _layer(found: RuleFinding, other: Judged | None, near: str, far: str) -> str:
    """Return the layer at fault: the near one by itself, the far one if the other exchange shows it too."""
    if found.finding.side == near:
        return near
    if other is None:
        return ""
    return far if found.rule in other.failing else GATEWAY


def _key(exchange: Exchange, named: str) -> tuple[str, ...]:
    if named:
        return "header", named
    body = exchange.request
    messages = body.get("messages") if isinstance(body, Mapping) else None
    listed = [each for each in messages if isinstance(each, Mapping)] if isinstance(messages, list) else []
    said = [each for each in listed if each.get("role") in ("user", "tool")]
    texts = [content_text(each.get("content")).strip() for each in said]
    return "said", str(len(texts)), texts[0] if texts else "", texts[-1] if texts else ""


def _answer(exchange: Exchange) -> Any:
    """Return a reply as both sides of a gateway can be compared; a stream as the messages that it amounts to."""
    body = exchange.response
    if not exchange.streamed:
        return body
    found = replies(exchange)
    choices = [{"message": reply.message, "finish_reason": reply.finish_reason} for reply in found]
    return {"choices": choices}


def _differences(before: Any, after: Any, place: Place) -> Iterator[FieldChange]:
    """Yield how a value differs from what it was."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(key, _ABSENT), after.get(key, _ABSENT), (*place, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield FieldChange(render(place), "gets another number of elements")
        for old, new in zip_longest(before, after, fillvalue=_ABSENT):
            if _ABSENT not in (old, new):
                yield from _differences(old, new, (*place, _ANY))
    elif after is _ABSENT:
        yield FieldChange(render(place), "removed")
    elif before is _ABSENT:
        yield FieldChange(render(place), "added")
    # Python takes 1, 1.0 and true for equal; in JSON they are not.
    elif before != after or type(before) is not type(after):
        yield FieldChange(render(place), _changed(before, after))


def _changed(before: Any, after: Any) -> str:
    if isinstance(before, str) and isinstance(after, str):
        return "changed"
    return f"changed from {quoted(before)} to {quoted(after)}"
