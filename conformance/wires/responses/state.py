"""What a server of Responses keeps of a session: items by id, and the history that a response id stands for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.wire.values import as_object
from conformance.wires.responses.blocks import whole_detail

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
            asked = [message for message in listed[:start] if message.get("role") == "user"][-1:]
            tail = (*asked, *tail)
        return History(tail, is_whole=False)


NOTHING: Final = History((), is_whole=True)


class Memory:
    """What the earlier exchanges of a session say about ids, blobs and histories.

    `items`: the items of replies by id, and those that a request gives. `details`: reasoning by its blob, its id or its
    text, in the form in which the reply had it.
    """

    def __init__(self) -> None:
        self.items: dict[str, Mapping[str, Any]] = {}
        self.stored: set[str] = set()
        self.details: dict[tuple[str, str], dict[str, Any]] = {}
        self.histories: dict[tuple[str, str], History] = {}
        self._asked = NOTHING

    def asked(self, messages: Sequence[dict[str, Any]], history: History) -> None:
        """Remember the messages of a request, those of the history that it refers to among them."""
        self._asked = History((), history.is_whole).extended(messages)

    def answered(self, identity: Any, session: tuple[str, str] | None, message: dict[str, Any]) -> None:
        """Remember the history that the id of a reply stands for, and what its conversation holds now."""
        history = self._asked.extended([message])
        if type(identity) is str and identity:
            self.histories["response", identity] = history
        if session is not None and session[0] == "conversation":
            self.histories[session] = history

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
            return {**known, **own}, not number
        return sent, not keys


def _keys(made: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what tells a detail from others, the surest first."""
    for key in ("data", "id", "text"):
        if type(made.get(key)) is str:
            yield key, made[key]
