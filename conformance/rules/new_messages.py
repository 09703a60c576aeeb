"""Judging one request by what is new in its messages, and keeping what is found for the next one."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.rules.context import Context
from conformance.rules.kept import FoundFault, KeptBlock, KeptSpan, RuleTally, block_ending, block_within
from conformance.rules.plans import RulePlan, Steps
from conformance.wire.keys import key_of
from conformance.wire.native_views import NativeSpan, native_messages
from conformance.wire.sent import SentElements
from conformance.wire.views import View, requests, resent

if TYPE_CHECKING:
    from conformance.rules.running import RuleRun

NativeBlocks: TypeAlias = Mapping[View | None, KeptBlock | None]
"""The last blocks of native messages: of a view whose elements may change in them, or under None of all others."""
_APART: Final = 4
"""So many messages at the end of a native request are blocks of their own."""


class NewMessages:
    """Judges one request by what is new in it, and keeps what is found for the next one."""

    __slots__ = ("context", "counts", "faults", "number", "part", "plan", "run", "shuffled", "tally")

    def __init__(self, run: "RuleRun", context: Context, plan: RulePlan, tally: RuleTally) -> None:
        self.run, self.context, self.plan, self.tally = run, context, plan, tally
        self.part, self.number = context.part, context.number
        self.counts: dict[int, int] = {}
        self.faults: dict[int, list[FoundFault]] = {}
        self.shuffled: set[int] = set()

    def judge(self, sent: list[KeptBlock | None], resents: list[KeptBlock | None], natives: list[NativeBlocks]) -> None:
        """Judge the rules whose findings are kept; the lists hold the last block of each exchange."""
        part, plan = self.part, self.plan
        if not part.requests or not plan.each:
            return
        before = part.earlier.number if part.earlier is not None and self.run.carries(part) else None
        views = [at for at in plan.each if plan.views[at] is not resent and not plan.views[at].native]
        begin = None if before is None else block_ending(sent[before], part.start)
        # Without messages, the rules about requests still have a request to judge.
        pieces = list(part.pieces) or [SentElements(self.number, {"messages": []}, 0, 0, -1)]
        if begin is None and part.start:
            pieces.insert(0, SentElements(self.number, part.exchange.request, 0, part.start, part.user))
        sent[self.number] = self._extend(begin, pieces, views)
        views = [at for at in plan.each if plan.views[at] is resent]
        if views and self.number:
            start = self.run.index.resent_of(self.number).start
            begin = None if before is None or start != part.start else block_ending(resents[before], start)
            begin = None if begin is None or before is None else self._held(begin, before)
            spans = [KeptSpan(self.number, piece.begin, piece.end) for piece in part.pieces]
            known = 0 if begin is None else begin.end
            if known < part.start:
                spans.insert(0, KeptSpan(self.number, known, part.start))
            resents[self.number] = self._extend(begin, spans, views)
        alike: dict[View | None, list[int]] = {}
        for at in plan.each:
            view = plan.views[at]
            if view.native:
                # Views that may have other elements in the same messages go on from messages of their own.
                alike.setdefault(None if view.held is None else view, []).append(at)
        last: NativeBlocks = {} if before is None else natives[before]
        natives[self.number] = {key: self._judge_native(last.get(key), key, ats) for key, ats in alike.items()}
        self._settle()

    def _held(self, block: KeptBlock, before: int) -> KeptBlock | None:
        """Return the last block, up to one, whose findings no id changes that came again since."""
        if not block.until:
            return block
        index = self.run.index
        replied = [call.id for part in index.parts[before : self.number] for call in part.reply_calls]
        sent = [each for piece in self.part.pieces for turn in piece.turns for each in turn.ids]
        ends = [block.until[key] for key in map(key_of, (*replied, *sent)) if key in block.until]
        return block_within(block, min(ends)) if ends else block

    def _judge_native(self, last: KeptBlock | None, alone: View | None, views: Sequence[int]) -> KeptBlock | None:
        """Judge native messages, and return the block before the last one, by which another may stand next time."""
        index, number = self.run.index, self.number
        listed, _, common = native_messages(index, number)
        end = len(listed)
        if alone is not None and alone.held is not None:
            common = min(common, alone.held(index, number))
        # What reads the message that follows, or asks whether one is the last, is asked again.
        begin = block_within(last, min(common, end) - 1)
        start = 0 if begin is None else begin.end
        # A client often changes the last messages once more, such as by moving a mark.
        borders = [start, *range(max(start + 1, end - _APART), end), end]
        block = self._extend(begin, [NativeSpan(number, *span) for span in pairwise(borders) if end], views)
        return block.before if block is not None and block.end == end else block

    def _extend(self, begin: KeptBlock | None, spans: Sequence[Any], views: Sequence[int]) -> KeptBlock | None:
        """Take what is known of the messages before the spans, judge these, and return the last block."""
        whole: set[int] = set()
        if begin is not None:
            whole = {position for position, element in begin.open if element is None}
            self._carry(begin, whole)
        block = begin
        for span in spans:
            block = KeptBlock(block, span.end)
            narrow = self.context.within(span) if isinstance(span, SentElements) else self.context
            for at in views:
                view = self.plan.views[at]
                if view is requests:
                    self._judge_request(self.plan.groups[at].each, narrow, block, whole)
                elif (elements := view.between(self.run.index, span)) if view.between is not None else ():
                    self.tally.looked.add(at)
                    block.counts[~at] = 1
                    self._judge_elements(elements, self.plan.groups[at].each, narrow, block)
        return block

    def _carry(self, begin: KeptBlock, whole: set[int]) -> None:
        """Take what was found in the messages before, as found in this request."""
        number = self.number
        for position, count in begin.counts.items():
            if position < 0:
                self.tally.looked.add(~position)
            elif position not in whole:
                self.counts[position] = count
        self.faults |= {position: found for position, found in begin.found(number) if position not in whole}
        for position, element in begin.open:
            if element is not None:
                self._judge_again(position, self._as_here(self.run.rules[position].on, element))
        # A set has no order, and findings do.
        for position in sorted(whole):
            if self.run.rules[position].concerns(self.part.requests[0], self.context):
                self._judge_again(position, self.part.requests[0])

    def _as_here(self, view: View, element: Any) -> Any:
        """Return an element of an earlier request as this request has it."""
        place = (self.number, *element.place[1:])
        if not view.native or view.between is None:
            return element._replace(place=place)
        span = NativeSpan(self.number, place[3], place[3] + 1)
        return next(each for each in view.between(self.run.index, span) if each.place == place)

    def _judge_again(self, position: int, element: Any) -> None:
        self.counts[position] = self.counts.get(position, 0) + 1
        if faults := self.run.rules[position].judge(element, self.context):
            self.shuffled.add(position)
            self.faults.setdefault(position, []).extend([(self.number, element, fault) for fault in faults])

    def _judge_request(self, steps: Steps, context: Context, block: KeptBlock, whole: set[int]) -> None:
        """Let rules about requests judge some messages of one; it counts once, however many pieces concern a rule."""
        request, settled = self.part.requests[0], self.plan.settled
        for shared, sharing in steps:
            if shared is not None and not shared(request, context):
                continue
            for position, where, judge_element in sharing:
                if position in whole or not (where is None or where(request, context)):
                    continue
                self.counts[position] = 1
                faults = judge_element(request, context) or ()
                self.faults.setdefault(position, []).extend([(self.number, request, fault) for fault in faults])
                if position in settled and not settled[position](request, list(faults)):
                    block.open.append((position, None))
                else:
                    block.counts[position] = 1
                    block.add(position, request, faults)

    def _judge_elements(self, elements: Sequence[Any], steps: Steps, context: Context, block: KeptBlock) -> None:
        settled, until, counts, number = self.plan.settled, self.plan.until, self.counts, self.number
        kept = block.counts
        for element in elements:
            for shared, sharing in steps:
                if shared is not None and not shared(element, context):
                    continue
                for position, where, judge_element in sharing:
                    if where is not None and not where(element, context):
                        continue
                    counts[position] = counts.get(position, 0) + 1
                    faults = judge_element(element, context) or ()
                    if faults:
                        self.faults.setdefault(position, []).extend([(number, element, fault) for fault in faults])
                    if position in settled and not settled[position](element, list(faults)):
                        block.open.append((position, element))
                        continue
                    kept[position] = kept.get(position, 0) + 1
                    if position in until:
                        block.hold_until(until[position](element), element.place[3])
                    if faults:
                        block.add(position, element, faults)

    def _settle(self) -> None:
        """Add what was found in this request to the tally."""
        tally = self.tally
        for position, count in self.counts.items():
            tally.counts[position] += count
        for position, found in self.faults.items():
            if position in self.shuffled:
                # What was judged again stands behind what was carried over, and findings have the order of messages.
                found.sort(key=lambda each: each[1].place[3:])
            if found:
                tally.faulty.setdefault(position, []).extend(found)
