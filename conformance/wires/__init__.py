"""Other wires, translated into chat completions, so that one rule set judges them all.

One package per protocol; the folder is the registry. A translated exchange is what the rules look at; `native` holds
what it was, what has no counterpart, and where each part comes from, so that findings point into the native body. A
translation loses nothing that a rule looks at and repairs nothing: a call that is not answered stays unanswered, an id
that is missing stays missing.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.errors import UnknownName, Unusable
from conformance.wire.exchange import Conversation, Exchange, model_of
from conformance.wire.native import CHAT, NativeEvent

_CHAT: Final = "/completions"
_HEAD: Final = 4096


class Rendering(NamedTuple):
    """Chat completions as another wire: requests as the suites send them, replies as the simulator sends them.

    `reply` takes the native request, too, since replies of some wires repeat it. `events` are those of the stream that
    adds up to a native reply. `headers` are those of a request with a key. `failure` is the event that reports an error
    inside a stream. `is_array`: whether a stream at a URL comes as one JSON array of its events, instead of as
    server-sent events.
    """

    request: Callable[[Mapping[str, Any]], dict[str, Any]]
    reply: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
    events: Callable[[Mapping[str, Any]], Iterable[NativeEvent]]
    headers: Callable[[str], Mapping[str, str]]
    failure: Callable[[str], NativeEvent]
    is_array: Callable[[str], bool] = lambda _url: False


class Wire(NamedTuple):
    """One wire: how its exchanges are recognised, and how they are translated.

    `path`: what its clients append to the base URL to send a request of chat completions. `served`: the paths, after
    the version, at which the simulator plays it. `paths`: what the URL of one of its requests may contain. `is_request`
    and `is_reply` tell its bodies from those of other wires; None for a request that may be one of its own, or not.
    `beginnings`: texts, one of which is in the first event of a stream. `translate` takes the exchanges of one
    conversation, in order, and returns as many. `rendering` gives the other direction; None if the project does not
    play this wire yet. `keeps_replies`: whether a request may refer to an earlier reply instead of sending it back.
    """

    name: str
    title: str
    path: Callable[[Mapping[str, Any]], str]
    served: re.Pattern[str]
    paths: tuple[str, ...]
    is_request: Callable[[dict[str, Any]], bool | None]
    is_reply: Callable[[dict[str, Any]], bool]
    beginnings: tuple[str, ...]
    translate: Callable[[Sequence[Exchange]], Sequence[Exchange]]
    rendering: Rendering | None = None
    keeps_replies: bool = False

    def played(self) -> Rendering:
        """Return the rendering of the wire; raises Unusable if there is none yet."""
        if self.rendering is None:
            raise Unusable(f"the wire {self.name} can be checked, but not played yet")
        return self.rendering

    def translate_one(self, exchange: Exchange) -> Exchange:
        """Return an exchange that stands alone, translated."""
        (translated,) = self.translate([exchange])
        return translated

    def fits(self, exchange: Exchange) -> bool:
        """Return whether an exchange is one of this protocol, by its bodies."""
        request, response = exchange.request, exchange.response
        is_own = self.is_request(request) if type(request) is dict and request else None
        if is_own is not None:
            return is_own
        # A request may have nothing of its own; then the reply says it, but no error, which looks alike on other wires.
        if type(response) is dict:
            has_messages = type(request) is dict and "messages" in request
            return self.is_reply(response) and not (has_messages and "error" in response)
        return type(response) is str and any([each in response[:_HEAD] for each in self.beginnings])


@cache
def load() -> tuple[Wire, ...]:
    """Return every protocol, ordered by name."""
    names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py"))
    return tuple([importlib.import_module(f"{__name__}.{name}").WIRE for name in names])


def by_name(name: str) -> Wire:
    """Return the protocol of that name; raises UnknownName."""
    found = {protocol.name: protocol for protocol in load()}
    if name not in found:
        raise UnknownName("wire", name, found)
    return found[name]


def of(exchange: Exchange) -> Wire | None:
    """Return the protocol of an exchange, by its URL or else its bodies; None for chat completions."""
    if exchange.native is not None or _CHAT in exchange.url:
        return None
    for protocol in load() if exchange.url else ():
        if any([path in exchange.url for path in protocol.paths]):
            return protocol
    for protocol in load():
        if protocol.fits(exchange):
            return protocol
    return None


def as_sent(body: Mapping[str, Any], wire: str) -> Exchange:
    """Return the exchange of a request of chat completions that is sent on a wire; it has no reply yet."""
    model = model_of(dict(body))
    if wire == CHAT:
        return Exchange.of_plain(request=body, model=model)
    protocol = by_name(wire)
    native = protocol.played().request(body)
    return protocol.translate_one(Exchange.of_plain(request=native, url=protocol.path(body), model=model))


def translate(conversation: Conversation) -> Conversation:
    """Return a conversation whose exchanges are all those of chat completions; those that are already stay the same."""
    found = [of(exchange) for exchange in conversation]
    if not any(found):
        return conversation
    translated = list(conversation)
    for protocol in dict.fromkeys(filter(None, found)):
        numbers = [number for number, each in enumerate(found) if each is protocol]
        exchanges = protocol.translate([conversation[number] for number in numbers])
        for number, exchange in zip(numbers, exchanges, strict=True):
            translated[number] = exchange
    return tuple(translated)
