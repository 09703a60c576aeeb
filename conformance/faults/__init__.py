"""Faults that real servers make: each changes what the simulator is about to send, and comes from a public report.

One file per fault; the folder is the registry. The name of a fault is that of its file, its title the first line of the
docstring. A file has `SOURCE` (the address of the report), `WIRES`, `VARIANTS` (plain, stream), `BREAKS` (what reports
it, by wire if that differs) and `change`. `BREAKS` has ids of rules, `probes/NAME` for probes and comparisons,
`core/NAME` for core facts, `ended` for a case that the wire ends and `stopped` for a run that it stops; a run reports
the fault if it names one of these. Nothing in it: nothing is known to report the fault.

Optional are `RELATED` (what may report it, too), `ON` (which replies it changes), `TOGETHER` (it is in all its variants
or in none), `AT` (by wire, the provider to play it with, if the usual one is known to have the fault or cannot have it)
and `HARMLESS` (clients have to cope with it, so no run may report it). What several files need to read a wire is in
modules whose names begin with `_`.
"""

import copy
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from conformance.errors import UnknownName
from conformance.wire.native import NativeEvent

PLAIN: Final = "plain"
STREAM: Final = "stream"
BOTH: Final = (PLAIN, STREAM)

GOOD: Final = "good"
REFUSED: Final = "refused"
ANY: Final = "any"
"""The replies that a fault changes: those with status 200, the others, or all."""


class Outgoing(NamedTuple):
    """A reply that is about to be sent.

    `wire`: the name of its wire. `body`: the JSON value of a plain reply, or its text if that is not JSON. `events`:
    those of a stream; an event whose value is text is sent as it is, such as a comment or `data: [DONE]`. One of both
    is None. `request`: the body of the request, as it came. `headers`: those of the reply, with lowercase names.
    `content`: the bytes to send instead of body or events; None if these are sent. `earlier`: what was about to be sent
    to the same client before, in order and without faults; its replies have nothing in `earlier`.
    """

    wire: str
    body: Any = None
    events: tuple[NativeEvent, ...] | None = None
    request: Any = None
    status: int = 200
    headers: Mapping[str, str] = {}
    content: bytes | None = None
    earlier: tuple["Outgoing", ...] = ()

    @property
    def variant(self) -> str:
        """Return plain or stream."""
        return PLAIN if self.events is None else STREAM

    @property
    def values(self) -> list[Any]:
        """Return the JSON values: the body, or those of the events."""
        if self.events is None:
            return [self.body]
        return [each.value for each in self.events if not isinstance(each.value, str)]

    def objects(self, holds: Callable[[Mapping[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return every object in the reply that a condition holds for, in order."""
        return [each for each in _objects(self.values) if holds(each)]

    def calls(self) -> list[dict[str, Any]]:
        """Return the objects that hold the ids of calls: of a stream, those that begin a call or repeat it whole."""
        return self.objects(_IS_CALL[self.wire])

    def raw(self) -> bytes:
        """Return the bytes that are sent."""
        if self.content is not None:
            return self.content
        if self.events is not None:
            return b"".join(map(event_bytes, self.events))
        return self.body.encode() if isinstance(self.body, str) else orjson.dumps(self.body)

    def differs(self, other: "Outgoing") -> bool:
        """Return whether a client gets something else than with the other reply."""
        return (self.status, self.headers, self.raw()) != (other.status, other.headers, other.raw())

    def with_headers(self, **headers: str) -> "Outgoing":
        """Return the reply with other headers; an underscore in a name is a hyphen."""
        return self._replace(headers={**self.headers, **{key.replace("_", "-"): headers[key] for key in headers}})


def event_bytes(event: NativeEvent) -> bytes:
    """Return an event as it is sent; one whose value is text is that text."""
    if isinstance(event.value, str):
        return event.value.encode()
    name = f"event: {event.name}\n".encode() if event.name else b""
    return name + b"data: " + orjson.dumps(event.value) + b"\n\n"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(each)


_IS_CALL: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "chat": lambda value: isinstance(value.get("function"), dict) and bool(value.get("id")),
    "messages": lambda value: value.get("type") == "tool_use",
    "responses": lambda value: value.get("type") == "function_call",
    "gemini": lambda value: "name" in value and "args" in value,
}
ID_KEYS: Final = {"chat": "id", "messages": "id", "responses": "call_id"}
"""The member of a call that holds its id, by wire."""


@dataclass(frozen=True, slots=True)
class ServerFault:
    """A fault of servers. `breaks`: what reports it, by wire; `related`: what may report it, too.

    `change` gets a copy of the reply, which it may modify, and returns the reply to send. `on`: the replies that it
    changes. `together`: it is in all its variants or in none. `at`: by wire, the provider to play it with, if that is
    not the usual one.
    """

    name: str
    title: str
    source: str
    wires: tuple[str, ...]
    variants: tuple[str, ...]
    breaks: Mapping[str, tuple[str, ...]]
    related: tuple[str, ...]
    change: Callable[[Outgoing], Outgoing] = field(repr=False)
    on: str = GOOD
    together: bool = False
    at: Mapping[str, str] = field(default_factory=dict)
    harmless: bool = False

    def exists(self, sent: Outgoing) -> bool:
        """Return whether a reply of this wire, variant and status can have the fault."""
        if sent.wire not in self.wires:
            return False
        if sent.status != 200:  # A refusal is plain, whatever was asked for.
            return self.on in (REFUSED, ANY)
        return self.on in (GOOD, ANY) and sent.variant in self.variants

    def apply(self, sent: Outgoing) -> Outgoing:
        """Return the reply with the fault; the same reply if it cannot have it."""
        if not self.exists(sent):
            return sent
        # Events share objects, such as a call in several of them: a copy that shares them is changed in one place.
        return self.change(sent._replace(body=copy.deepcopy(sent.body), events=copy.deepcopy(sent.events)))


_OPTIONAL: Final = ("ON", "TOGETHER", "AT", "HARMLESS")


@cache
def names() -> tuple[str, ...]:
    """Return the names of all faults, sorted."""
    found = [path.stem for path in Path(__file__).parent.glob("[a-z]*.py")]
    return tuple(sorted([each.replace("_", "-") for each in found]))


@cache
def load(name: str) -> ServerFault:
    """Return a fault; raises UnknownName with the nearest names."""
    if name not in names():
        raise UnknownName("fault", name, names())
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    title = (module.__doc__ or "").strip().partition("\n")[0]
    breaks = module.BREAKS if isinstance(module.BREAKS, dict) else dict.fromkeys(module.WIRES, module.BREAKS)
    optional = {key.lower(): getattr(module, key) for key in _OPTIONAL if hasattr(module, key)}
    related = getattr(module, "RELATED", ())
    return ServerFault(
        name, title, module.SOURCE, module.WIRES, module.VARIANTS, breaks, related, module.change, **optional
    )
