"""Which messages of later requests send which earlier replies back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conformance.wire.elements import Reply, Resent
from conformance.wire.known_replies import KnownReplies, ReplyPositions, all_keys, exact_key, similarity
from conformance.wire.same_calls import calls_in

if TYPE_CHECKING:
    from conformance.wire.index import Index
    from conformance.wire.parts import ExchangePart


class ResentOf:
    """Which messages of one request send which replies back.

    `pairs`: the number of the reply that a message sends back, by position. `found`: the number of the assistant
    message in which each reply was found, although another one may have taken it. `start`: pairs before this position
    are those of the earlier request; 0 if all were looked for. `fresh`: the positions of the others, and `searched` the
    replies that were found among them; `changed` are all that came back with another text. `back`: the position at
    which a reply to each earlier request comes back.
    """

    __slots__ = ("back", "changed", "found", "fresh", "pairs", "replies", "replies_before", "searched", "start")

    def __init__(self, replies: Sequence[Reply], start: int = 0) -> None:
        self.replies = replies
        self.start = start
        self.replies_before = len(replies)
        self.pairs: dict[int, int] = {}
        self.found: dict[int, int] = {}
        self.fresh: list[int] = []
        self.searched: list[int] = []
        self.changed: set[int] = set()
        self.back: dict[int, int] = {}

    def of(self, index: "Index", number: int) -> list[Resent]:
        """Return the messages, in the order of their replies."""
        numbers = sorted(self.pairs, key=self.pairs.__getitem__)
        return [self._resent(index.parts[number], position) for position in numbers]

    def between(self, index: "Index", number: int, begin: int, end: int) -> list[Resent]:
        """Return the messages between two positions, in their order."""
        part = index.parts[number]
        positions = self.fresh if begin >= self.start else sorted(self.pairs)
        return [self._resent(part, position) for position in positions if begin <= position < end]

    def _resent(self, part: "ExchangePart", position: int) -> Resent:
        at, listed = self.pairs[position], part.listed or ()
        place = (part.number, "request", "messages", position)
        return Resent(place, listed[position], self.replies[at], position > part.user, (at, part.number))


class Resending:
    """Finds the messages that send earlier replies back, one request after the other.

    The reply to a request with n assistant messages comes back as assistant message n. For clients that merge or drop
    turns, the other assistant messages are searched for the same text and calls. A message sends back one reply only:
    recordings that repeat a request hold replies that are hard to distinguish. What the server holds is not sent back.
    A message with another text sends a reply back if it follows exactly the messages that the reply was given to.

    For messages that an earlier request had, what was found there holds, unless a reply that came since has more in
    common with a message that was sent than a text or an id that is used again and again.
    """

    def __init__(self) -> None:
        """Begin without any reply."""
        self._replies: list[Reply] = []
        self._known = KnownReplies(self._replies)
        self._positions = ReplyPositions(self._replies)
        self._done: list[ResentOf] = []
        self._asked: set[Any] = set()
        self._sent: set[Any] = set()
        self._is_plural = False

    def add(self, index: "Index", number: int) -> ResentOf:
        """Return what is found in the next request."""
        part = index.parts[number]
        if number:
            self._take(index.parts[number - 1])
        found = None
        if part.assistants and self._replies:
            found = self._continued(part) or self._searched(part, ResentOf(self._replies), 0)
        found = ResentOf(self._replies) if found is None else found
        self._done.append(found)
        if part.grows:
            for piece in part.pieces:
                for _, value in piece.assistants:
                    calls = calls_in(value)
                    self._asked.update(self._known.keys(value, calls))
                    self._sent.update([exact_key(calls)] if calls else ())
        return found

    def _take(self, before: "ExchangePart") -> None:
        """Take the replies to the request before, which can be sent back from now on."""
        self._is_plural = self._is_plural or len(before.replies) > 1
        for reply in before.replies:
            number, expected = len(self._replies), len(before.assistants)
            self._replies.append(reply)
            self._known.add(number, expected)
            self._positions.add(number, expected, before.listed or [])

    def _continued(self, part: "ExchangePart") -> ResentOf | None:
        """Return what is found if that of the earlier request holds for its messages; None if it may not."""
        earlier = part.earlier
        if earlier is None or not part.start or part.start < earlier.start:
            return None
        before = self._done[earlier.number]
        made = ResentOf(self._replies, part.start)
        made.pairs, made.found, made.back = dict(before.pairs), dict(before.found), dict(before.back)
        made.changed = set(before.changed)
        first = len(part.assistants) - sum([len(piece.assistants) for piece in part.pieces])
        for position in before.fresh:
            if position >= part.start:
                number = made.pairs.pop(position)
                made.changed.discard(number)
                made.back.pop(int(self._replies[number].place[0]), None)
        again = [number for number in before.searched if made.found[number] >= first]
        for number in again:
            del made.found[number]
        alike = None if self._is_plural else self._alike(part, before, made, first)
        if alike is None:
            return None
        found = self._searched(part, made, first)
        if found is None:
            return None
        # A reply that came back in a message which is gone may come back in an earlier one instead.
        expected = {number: self._known.expected[number] for number in alike}
        is_same = all([found.found.get(each) == at for each, at in expected.items()])
        return found if is_same and all([found.found.get(each) == before.found[each] for each in again]) else None

    def _alike(self, part: "ExchangePart", before: ResentOf, made: ResentOf, first: int) -> list[int] | None:
        """Return the replies since the earlier request that have anything in common with a message that was sent.

        They change nothing of what was found if they come back where they are expected; None if it may change anyhow.
        """
        alike = []
        for number in range(before.replies_before, len(self._replies)):
            expected = self._known.expected[number]
            if expected < first and part.assistants[expected][0] not in made.pairs:
                return None
            reply = self._replies[number]
            common = self._asked.intersection(all_keys(reply.message, reply.calls))
            if common:
                if expected < first or self._known.changes(number, common, made.found, self._sent):
                    return None
                alike.append(number)
        return alike

    def _searched(self, part: "ExchangePart", made: ResentOf, first: int) -> ResentOf | None:
        """Search the assistant messages from one on; None if what holds of those before it may not hold any more."""
        native = part.exchange.native
        held = None if native is None else native.held
        fresh = set[int]()
        for number, at in self._known.sent_back(part.assistants, first):
            if at is None or number in made.found:
                if number in made.found and at is not None and at == self._known.expected[number]:
                    return None
                continue
            position, value = part.assistants[at]
            made.found[number] = at
            made.searched.append(number)
            if held is not None and position in held:
                continue
            if number in made.changed:
                return None
            rival = made.pairs.get(position)
            # Similarity is computed only if there is a rival, which is rare.
            if rival is None or self._similarity(number, value) >= self._similarity(rival, value):
                made.pairs[position] = number
                fresh.add(position)
        for number, (position, _) in self._positions.changed(part, made.pairs, first):
            if held is None or position not in held:
                made.pairs[position] = number
                made.changed.add(number)
                fresh.add(position)
        made.fresh = sorted(fresh)
        # Of several choices that come back, the last one counts.
        for number, position in sorted([(made.pairs[position], position) for position in fresh]):
            made.back[int(self._replies[number].place[0])] = position
        return made

    def _similarity(self, number: int, value: dict[str, Any]) -> tuple[bool, ...]:
        return similarity(value, self._replies[number])
