"""Faults that real servers make: each changes what the simulator is about to send, and comes from a public report.

One file per fault; the folder is the registry. The name of a fault is that of its file, its title the first line of the
docstring. A file has `SOURCE` (the address of the report), `WIRES`, `VARIANTS` (plain, stream), `BREAKS` (the ids of
the rules that report it, by wire if they differ), `RELATED` (rules that may report it too, depending on wire and
profile) and `change`.
"""

import copy
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.errors import UnknownName
from conformance.wire.native import NativeEvent

PLAIN: Final = "plain"
STREAM: Final = "stream"
BOTH: Final = (PLAIN, STREAM)


class Outgoing(NamedTuple):
    """A good reply that is about to be sent, with status 200.

    `wire`: the name of its wire. `body`: the JSON value of a plain reply. `events`: those of a stream; an event whose
    value is text is sent as it is, such as a comment or `data: [DONE]`. One of both is None.
    """

    wire: str
    body: Any = None
    events: tuple[NativeEvent, ...] | None = None

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
    """A fault of servers. `breaks`: the rules that report it, by wire; `related`: those that may report it, too.

    `change` gets a copy of the reply, which it may modify, and returns the reply to send.
    """

    name: str
    title: str
    source: str
    wires: tuple[str, ...]
    variants: tuple[str, ...]
    breaks: Mapping[str, tuple[str, ...]]
    related: tuple[str, ...]
    change: Callable[[Outgoing], Outgoing] = field(repr=False)

    def exists(self, sent: Outgoing) -> bool:
        """Return whether a reply of this wire and variant can have the fault."""
        return sent.wire in self.wires and sent.variant in self.variants

    def apply(self, sent: Outgoing) -> Outgoing:
        """Return the reply with the fault; the same reply if its wire or variant cannot have it."""
        return self.change(copy.deepcopy(sent)) if self.exists(sent) else sent


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
    related = getattr(module, "RELATED", ())
    return ServerFault(name, title, module.SOURCE, module.WIRES, module.VARIANTS, breaks, related, module.change)
