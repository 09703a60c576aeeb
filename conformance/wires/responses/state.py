"""What a server of Responses keeps of a session: items by id, and the history that a response id stands for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.wire.keys import key_of
from conformance.wire.values import as_object, objects
from conformance.wires.responses.blocks import whole_detail
from conformance.wires.responses.kinds import CALLS, OUTPUTS, kind_of

MAX_HELD: Final = 16
"""Of a history that the server holds, so many messages are looked at: what is before was looked at when it was new."""


class History(NamedTuple):
    """The messages that an id stands for; `is_whole`: whether none is missing at the beginning."""

    messages: tuple[dict[str, Any], ...]
    is_whole: bool

    def extended(self, messages: Sequence[dict[str, Any]]) -> "History":
        """Return the history with further messages; of a long one, the last user message and the last of all."""
        listed = (*self.messages, *messages)
        if len(listed) <= 2 * MAX_HELD:
            return History(listed, self.is_whole)
        start = len(listed) - MAX_HELD
        while start < len(listed) and listed[start].get("role") == "tool":
            start += 1
        tail = listed[start:]
        if not any([message.get("role") == "user" for message in tail]):
            asked = next((each for each in reversed(listed[:start]) if each.get("role") == "user"), None)
            tail = tail if asked is None else (asked, *tail)
        return History(tail, is_whole=False)


NOTHING: Final = History((), is_whole=True)


class _Exchange(NamedTuple):
    """The messages of a request from a position on, what it refers to, and the reply: of few, the history is asked."""

    history: History
    messages: Sequence[dict[str, Any]]
    first: int
    reply: dict[str, Any]

    def after(self) -> History:
        """Return the history that holds when the reply is over."""
        return History((), self.history.is_whole).extended(self.messages[self.first :]).extended([self.reply])


class Memory:
    """What the earlier exchanges of a session say about ids, blobs and histories.

    `items`: the items of replies by id, and those that a request gives. `details`: reasoning by its blob, its id or its
    text, in the form in which the reply had it. `grows`: whether later exchanges may say more.
    """

    def __init__(self, *, grows: bool = True) -> None:
        self.grows = grows
        self.items: dict[str, Mapping[str, Any]] = {}
        self.stored: set[str] = set()
        self.details: dict[tuple[str, str], dict[str, Any]] = {}
        self._histories: dict[tuple[str, str], _Exchange] = {}
        self._asked = _Exchange(NOTHING, (), 0, {})

    def asked(self, messages: Sequence[dict[str, Any]], first: int, history: History) -> None:
        """Remember the messages of a request from one on, those of the history that it refers to among them."""
        self._asked = _Exchange(history, messages, first, {})

    def answered(self, identity: Any, session: tuple[str, str] | None, message: dict[str, Any]) -> None:
        """Remember the history that the id of a reply stands for, and what its conversation holds now."""
        exchange = self._asked._replace(reply=message)
        if type(identity) is str and identity:
            self._histories["response", identity] = exchange
        if session is not None and session[0] == "conversation":
            self._histories[session] = exchange

    def history(self, key: tuple[str, str]) -> History | None:
        """Return the history that the id of a reply or of a conversation stands for; None if it is not at hand."""
        exchange = self._histories.get(key)
        return None if exchange is None else exchange.after()

    def keep(self, items: Sequence[Any], repeated: Sequence[Any], *, is_stored: bool) -> None:
        """Remember the items of a reply, and whether the server stores them.

        A stream repeats the items, at their beginning and at its end, with other blobs for the same reasoning: those of
        the end are as good as those of the done items, and rules of this wire look at those of the beginning.
        """
        for item in map(as_object, items):
            identity = item.get("id")
            if type(identity) is str and identity:
                self.items[identity] = item
                if is_stored:
                    self.stored.add(identity)
            if item.get("type") == "reasoning":
                made = whole_detail(item)
                for key in _keys(made):
                    self.details.setdefault(key, made)
        for item in map(as_object, repeated):
            blob, known = item.get("encrypted_content"), self.details.get(("id", str(item.get("id"))))
            if type(blob) is str and known is not None:
                self.details.setdefault(("data", blob), known)

    def resolve(self, identity: Any) -> Mapping[str, Any] | None:
        """Return the item that an id stands for; None if it is not at hand."""
        return self.items.get(identity) if type(identity) is str else None

    def reasoning(self, item: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return a reasoning item that is sent back, as the server sees it, and whether later replies change nothing.

        The server reads out of the blob, or looks up by the id, what the client leaves out. What the client sends
        instead stays as it is.
        """
        sent = whole_detail(item)
        keys = list(_keys(sent))
        for number, (kind, value) in enumerate(keys):
            known = self.details.get((kind, value))
            if known is None or (kind == "id" and ("data" in sent or value not in self.stored)):
                continue
            # The blob tells which item this is; a rule of this wire looks at an id that does not belong to it.
            own = {key: each for key, each in sent.items() if key in ("summary", "text")}
            return {**known, **own}, not number or not self.grows
        return sent, not keys or not self.grows


def _keys(made: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what tells a detail from others, the surest first."""
    for key in ("data", "id", "text"):
        if type(made.get(key)) is str:
            yield key, made[key]


def first_new(given: Any, held: Sequence[Mapping[str, Any]], memory: Memory | None) -> int:
    """Return the position in an input behind the last call or output that a held history has already."""
    called = {key_of(call.get("id")) for each in held for call in each.get("tool_calls") or ()}
    answered = {key_of(each.get("tool_call_id")) for each in held if each.get("role") == "tool"}
    last = -1
    for position, item in objects(given) if called else ():
        meant = item if memory is None else memory.resolve(item.get("id")) or item
        known = called if kind_of(meant) in CALLS else answered if kind_of(meant) in OUTPUTS else ()
        last = position if key_of(meant.get("call_id")) in known else last
    return last + 1
