"""Requests that repeat a history, as those of agents do: parsed, translated and judged by what is new in them.

What is remembered decides nothing but the time: a request that it does not let pass is judged from its first message
on, as if nothing were known.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import is_
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.growing import GrowingTexts, common_bytes
from conformance.judge import judgement_of
from conformance.profiles import Profile
from conformance.rules.kept import RuleTally
from conformance.rules.running import RuleRun, raised
from conformance.simulator.outlines import may_be_broken
from conformance.simulator.strictness import rules_of_clients, violation_in
from conformance.wire.continuations import Continuation
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.values import as_object, objects
from conformance.wires import Translate, Wire

MAX_OPEN: Final = 16
MAX_BYTES: Final = 8 * 1024 * 1024
"""How many histories are remembered, those used last, and about how many bytes of memory they take together."""

LEAST_BYTES: Final = 8 * 1024
MOST_BYTES: Final = 1024 * 1024
"""A shorter request is read as soon as it is compared, and a longer one would take the place of all others."""

_LEAST_JUDGED: Final = 32
_SHARE: Final = 4
_MOST_JUDGED: Final = MAX_BYTES // 4
"""After so many requests and a quarter of the messages, or so many bytes, what is known is built again without them."""

_ESCAPE: Final = 6
_PER_REPLY: Final = 128
_PER_MESSAGE: Final = 1024
_PER_VALUE: Final = 64
_PER_QUOTE: Final = 32
_LISTS: Final = ("messages", "input", "contents")

_DROPPED: Final = frozenset({"id", "status"})
"""What clients of Responses leave out of an item that they send back."""


class _RequestIndex(Index):
    """The requests of a session, each judged as if the others had not been: they only save time."""

    __slots__ = ()

    def continuation_of(self, _number: int) -> Continuation | None:
        """Return None: a provider does not remember the request that another one continues."""
        return None


class _Answered(NamedTuple):
    """A request that was accepted, without its items and with them, and the reply, which the server keeps."""

    rest: bytes
    items: Sequence[Any]
    output: Sequence[Any]


class RequestHistory:
    """The last requests of one session on a wire: their text, their translation, and what was found in them.

    `raw`: the text of the last one. `common`: how many bytes of it the next one repeats. `is_clean`: they hold no
    replacement character.
    """

    def __init__(self, wire: Wire, profile: Profile) -> None:
        """Begin without a request; `profile` is the one for the wire."""
        self.profile = profile
        self.raw, self.common = b"", 0
        self._texts = GrowingTexts(1)
        self._wire = wire
        self._translate = _translator(wire)
        self._answered: _Answered | None = None
        self._identities: set[Any] = set()
        self.is_clean = True
        self._is_continued, self._is_whole = False, True
        self._messages = self._weight = 0
        self._begin()

    def _begin(self) -> None:
        self._index = _RequestIndex(grows=True)
        self._run = RuleRun(self._index, rules_of_clients(), self.profile)
        self._judged = 0

    @property
    def size(self) -> int:
        """Return about how many bytes of memory it takes."""
        return self._weight + _PER_MESSAGE * self._messages + self._judged + _PER_REPLY * len(self._identities)

    def parse(self, data: bytes, file: str) -> Any:
        """Return the value of the text of a request; raises InvalidDocument as `parse_json` does."""
        value = self._texts.parse(data, file)
        # An escape that ends in what is new begins before it.
        self.is_clean = self.is_clean and not may_be_broken(data[max(0, self.common - _ESCAPE) :])
        self._weight += _weight(data[self.common :]) - _weight(self.raw[self.common :])
        self.raw, self.common = data, len(data)
        lists = [value.get(key) for key in _LISTS] if type(value) is dict else ()
        self._messages = max([len(each) for each in lists if type(each) is list], default=0)
        return value

    def translate(self, sent: Exchange) -> Exchange:
        """Return a request that was parsed as one of chat completions."""
        return self._translate(sent)

    def accepts(self, exchange: Exchange) -> bool:
        """Return whether a request, translated, has no fault for which a strict provider refuses it.

        False is not known for sure: such a request has to be judged from its first message on.
        """
        if not self._is_continued:
            # Most requests are never gone on with, and judging one so that others can be costs more.
            self._is_continued = True
            return False
        messages = exchange.request.get("messages")
        count = len(messages) if type(messages) is list else 0
        if len(self._index.parts) >= _LEAST_JUDGED and (
            len(self._index.parts) >= count // _SHARE or self._judged > _MOST_JUDGED
        ):
            self._begin()
        self._judged += self._index.add(exchange).size
        tally = RuleTally(len(self._run.rules))
        if raised(partial(self._run.add, tally)) is not None:
            self._begin()
            return False
        found = judgement_of(self._run, tally, self._run.plans[-1:]).found()
        return violation_in([*found], len(self._index.parts) - 1) is None

    def continues(self, body: Mapping[str, Any], parent: str) -> bool:
        """Return whether a request of Responses sends the last one back, and its reply, with more behind them.

        `parent` is the id of the last reply that its items show; texts show none. All that the server knows of the
        session is what it said, and the items have that: so nothing but the request can be wrong.
        """
        known, given = self._answered, body.get("input")
        if known is None or parent not in self._identities or type(given) is not list:
            return False
        count = len(known.items)
        is_same = len(given) >= count + len(known.output) and all(map(is_, known.items, given))
        if not is_same or known.rest != _rest(body):
            return False
        return all(map(_sends_back, given[count : count + len(known.output)], known.output))

    def restart(self, session: Sequence[Exchange], *, is_whole: bool) -> None:
        """Begin again with the session that a request of Responses continues: by its replies, items are read.

        `is_whole`: whether the request says by itself all that the session says of its items. If not, what it is read
        as changes with the replies that the server still looks at, and requests are read from their first item on.
        """
        self._translate, self._answered, self._identities = _translator(self._wire), None, set()
        self._is_whole = is_whole
        for each in session:
            asked = {key: value for key, value in as_object(each.request).items() if key != "input"}
            self._translate(Exchange.of_plain(asked, each.response, each.status, each.streamed, url=each.url))

    def note(self, path: str, body: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        """Note the reply to a request of Responses that was accepted, by which later requests are read."""
        self.translate(Exchange.of_plain(body, reply, 200, url=path))
        items = body.get("input")
        output = [item for _, item in objects(reply.get("output"))]
        is_list = type(items) is list and self._is_whole
        self._answered = _Answered(_rest(body), items or (), output) if is_list else None
        self._identities.add(reply["id"])


def _weight(text: bytes) -> int:
    """Return about how many bytes a text and its value take: each value, and each text in it, is an object."""
    return 2 * len(text) + _PER_VALUE * sum(map(text.count, (b"{", b"[", b","))) + _PER_QUOTE * text.count(b'"')


def _translator(wire: Wire) -> Translate:
    return (lambda exchange: exchange) if wire.name == CHAT else wire.reading.translator()


def _rest(body: Mapping[str, Any]) -> bytes:
    return orjson.dumps({key: value for key, value in body.items() if key != "input"})


def _sends_back(sent: Any, said: Mapping[str, Any]) -> bool:
    """Return whether an item is that of a reply; of messages and calls, clients may leave out the id and the status."""
    if type(sent) is not dict:
        return False
    dropped = _DROPPED - sent.keys() if said.get("type") != "reasoning" else ()
    kept = {key: value for key, value in said.items() if key not in dropped}
    return orjson.dumps(sent, option=orjson.OPT_SORT_KEYS) == orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)


class Histories:
    """The histories that were used last; safe to use from several threads, each of which has a history to itself."""

    def __init__(self) -> None:
        """Begin without any."""
        self._lock = threading.Lock()
        self._open: list[RequestHistory] = []

    @property
    def held(self) -> Sequence[RequestHistory]:
        """Return the histories that are remembered, that used last at the end."""
        with self._lock:
            return tuple(self._open)

    @contextmanager
    def of(self, wire: Wire, profile: Profile, data: bytes) -> Iterator[RequestHistory | None]:
        """Give the history that the text of a request goes on with, or a new one; none for a small or huge request."""
        if not LEAST_BYTES <= len(data) <= MOST_BYTES:
            yield None
            return
        history = self._take(profile, data) or RequestHistory(wire, profile)
        yield history
        # Not if anything was raised: what is half done is not gone on with.
        self._put(history)

    def _take(self, profile: Profile, data: bytes) -> RequestHistory | None:
        with self._lock:
            best, most = None, 0
            for history in self._open:
                common = common_bytes(history.raw, data) if history.profile is profile else 0
                # One that shares little more than its instructions is another session.
                if common > most and common >= len(history.raw) // 2:
                    best, most = history, common
            if best is not None:
                best.common = most
                self._open.remove(best)
            return best

    def _put(self, history: RequestHistory) -> None:
        with self._lock:
            self._open.append(history)
            while self._open and (len(self._open) > MAX_OPEN or sum([each.size for each in self._open]) > MAX_BYTES):
                del self._open[0]
