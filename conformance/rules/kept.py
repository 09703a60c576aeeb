"""What rules found in the messages of a request, and beside them, kept for later requests that repeat these."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from conformance.rules import Fault
from conformance.wire.keys import key_of

FoundFault: TypeAlias = tuple[int, Any, Fault]
"""The number of an exchange, an element, and what is wrong with it; an element may be that of an earlier exchange."""


class RuleTally:
    """What rules judged and found.

    `counts`: how many elements each rule judged. `faulty`: the faults of each rule, by position. `looked`: the
    positions of the views that have elements. `errors`: what broken rules raised.
    """

    __slots__ = ("counts", "errors", "faulty", "looked")

    def __init__(self, count: int) -> None:
        self.counts = [0] * count
        self.faulty: dict[int, list[FoundFault]] = {}
        self.looked: set[int] = set()
        self.errors: dict[int, Exception] = {}


class KeptBlock:
    """What rules found in messages up to a position.

    `counts`: how many elements each rule judged up to there; below 0, the views that had any. `faults`: what each rule
    found up to there, in a list that later blocks share, with how many of its items are meant. `open`: what has to be
    judged again in each request: elements, or None for a whole request. `until`: the ids of calls that must not come
    again for what was found from some message on to hold, each with the position of the first such message.
    """

    __slots__ = ("before", "counts", "end", "faults", "open", "until")

    def __init__(self, before: "KeptBlock | None", end: int) -> None:
        self.before, self.end = before, end
        self.counts: dict[int, int] = {} if before is None else dict(before.counts)
        self.open: list[tuple[int, Any]] = [] if before is None else list(before.open)
        self.until: Mapping[Any, int] = {} if before is None else before.until
        self.faults: dict[int, tuple[list[tuple[Any, Fault]], int]] = {} if before is None else dict(before.faults)

    def hold_until(self, ids: Iterable[Any], position: int) -> None:
        """Let what was found in a message hold until one of these ids comes again."""
        new = {key: position for key in map(key_of, ids) if key not in self.until}
        if new:
            self.until = {**self.until, **new}

    def add(self, rule: int, element: Any, faults: Iterable[Fault]) -> None:
        """Add what a rule, given by its position, found in an element."""
        found, count = self.faults.get(rule, ([], 0))
        # Where two requests go on from one block, each has a list of its own.
        found = found if len(found) == count else found[:count]
        found += [(element, fault) for fault in faults]
        self.faults[rule] = found, len(found)

    def found(self, number: int) -> Iterator[tuple[int, list[FoundFault]]]:
        """Yield each rule that found anything up to the end, by position, and that, as found in a request."""
        for rule, (found, count) in self.faults.items():
            yield rule, [(number, element, fault) for element, fault in islice(found, count)]


class KeptSpan(NamedTuple):
    """Messages of a request from one position to another."""

    number: int
    begin: int
    end: int


class KeptBeside(NamedTuple):
    """What rules that read no message found in a request, as in a tally."""

    counts: Mapping[int, int]
    faulty: Mapping[int, Sequence[FoundFault]]
    looked: Set[int]


def block_within(block: KeptBlock | None, position: int) -> KeptBlock | None:
    """Return the last block that ends at or before a position, among one and those before it; None if none does."""
    while block is not None and block.end > position:
        block = block.before
    return block


def block_ending(block: KeptBlock | None, position: int) -> KeptBlock | None:
    """Return the block that ends at a position, among one and those before it; None if none does."""
    found = block_within(block, position)
    return found if found is not None and found.end == position else None
