"""The rules while they judge the exchanges of a conversation, one after the other.

What they found in messages is kept in blocks, so that a request that begins with the same messages is judged by what is
new in it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

from conformance.profiles import Profile
from conformance.rules import UNCLAIMED, Rule
from conformance.rules.context import Claimant, Context, SchemaFaults
from conformance.rules.kept import FoundFault, KeptBeside, KeptBlock, KeptSpan, block_ending, block_within
from conformance.rules.plans import Chosen, RulePlan, Steps, plan_of
from conformance.rules.validation import BODIES, SchemaFinder
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.native_views import NativeSpan, native_messages
from conformance.wire.parts import ExchangePart
from conformance.wire.sent import SentElements
from conformance.wire.views import View, requests, resent

# One object, because plans are cached by the identity of the claims.
_NO_CLAIMS: Final[Mapping[str, Any]] = {}
_NO_CLAIMANT: Final = Claimant()
NativeBlocks: TypeAlias = Mapping[View | None, KeptBlock | None]
"""The last blocks of native messages: of a view whose elements may change in them, or under None of all others."""
_APART: Final = 4
"""So many messages at the end of a native request are blocks of their own."""


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


class RuleRun:
    """The rules of a set, by the claims of one profile, while they judge a growing conversation."""

    def __init__(
        self, index: Index, rules: Sequence[Rule], profile: Profile | None, as_of: str = "", model: str | None = None
    ) -> None:
        """Begin without an exchange; `model` replaces those of the exchanges where claims are looked up."""
        self.index = index
        self.rules = rules
        self.contexts: list[Context] = []
        self.plans: list[RulePlan] = []
        self._profile, self._as_of, self._model = profile, as_of, model
        self._sent: list[KeptBlock | None] = []
        self._resent: list[KeptBlock | None] = []
        self._native: list[NativeBlocks] = []
        self._beside: list[KeptBeside | None] = []

    @property
    def first(self) -> RulePlan:
        """Return the plan of the first exchange; without one there are no elements, and any plan will do."""
        if self.plans:
            return self.plans[0]
        return plan_of(Chosen(self.rules, _NO_CLAIMS, CHAT, claimed=self._profile is not None))

    def add(self, tally: RuleTally) -> None:
        """Judge the next exchange of the conversation; raises what a broken rule raises."""
        number = len(self.contexts)
        context, plan = self._begin(number)
        if not self.index.grows:
            self._judge(plan.active, [group.steps for group in plan.groups], context, plan, tally)
        else:
            self._judge_beside(context, plan, tally)
            self._judge(plan.late, [group.late for group in plan.groups], context, plan, tally)
            _Kept(self, context, plan, tally).judge(self._sent, self._resent, self._native)
        self._judge_by_schema(context, plan, tally)

    def pass_over(self) -> None:
        """Take the next exchange as what later ones continue, without judging it."""
        self._begin(len(self.contexts))

    def add_alone(self, tally: RuleTally) -> None:
        """Judge the next exchange rule by rule, so that a broken one breaks no other."""
        number = len(self.contexts)
        context, plan = self._begin(number)
        self.judge_alone(number, tally)
        self._judge_by_schema(context, plan, tally)

    def forget_last(self) -> None:
        """Forget the last exchange, in which a rule broke, so that it can be judged rule by rule."""
        del self.contexts[-1], self.plans[-1], self._sent[-1], self._resent[-1], self._native[-1], self._beside[-1]

    def judge_alone(self, number: int, tally: RuleTally) -> None:
        """Judge an exchange that was added, rule by rule."""
        context, plan = self.contexts[number], self.plans[number]
        for at in plan.active:
            elements = plan.views[at].of(self.index, number)
            if not elements:
                continue
            tally.looked.add(at)
            for shared, sharing in plan.groups[at].steps:
                for step in sharing:
                    if step[0] not in tally.errors:
                        _judge_alone(elements, ((shared, (step,)),), context, tally)

    def unclaimed(self, tally: RuleTally, plans: Sequence[RulePlan]) -> None:
        """Note the rules that need a claim that is known for none of some exchanges."""
        for at in tally.looked:
            if plans[0].groups[at].unclaimed:
                # A claim that is known for one of the models is enough: the rule could judge that exchange.
                for position in frozenset.intersection(*[plan.groups[at].unclaimed for plan in plans]):
                    tally.counts[position] = UNCLAIMED

    def carries(self, part: ExchangePart) -> bool:
        """Return whether the claims are those of the earlier exchange that a request continues."""
        earlier = part.earlier
        if earlier is None or not part.start:
            return False
        is_same = self.plans[part.number] is self.plans[earlier.number]
        return is_same and self.contexts[part.number].claims is self.contexts[earlier.number].claims

    def _begin(self, number: int) -> tuple[Context, RulePlan]:
        exchange = self.index.conversation[number]
        claims, claimant = self._claims(number)
        plan = plan_of(Chosen(self.rules, claims, exchange.protocol, claimed=self._profile is not None))
        schema: SchemaFaults = self.index.grown(SchemaFinder, number)
        context = Context(number, self.index, claims, schema, plan.known, claimant)
        self.contexts.append(context)
        self.plans.append(plan)
        self._sent.append(None)
        self._resent.append(None)
        self._native.append({})
        self._beside.append(None)
        return context, plan

    def _claims(self, number: int) -> tuple[Mapping[str, Any], Claimant]:
        """Return the claims for an exchange, and who makes them."""
        profile, exchange = self._profile, self.index.conversation[number]
        if profile is None:
            return _NO_CLAIMS, _NO_CLAIMANT
        model = exchange.model if self._model is None else self._model
        on_wire, day = profile.on(exchange.protocol), self._as_of or exchange.date
        claim_of = partial(on_wire.claim, model=model, date=day)
        return on_wire.at(model, day), Claimant(profile.service, on_wire.contested(model, day), claim_of)

    def _judge_beside(self, context: Context, plan: RulePlan, tally: RuleTally) -> None:
        """Let the rules that read no message judge a request, unless all that they read is as before."""
        part = context.part
        before = self._beside[part.earlier.number] if part.earlier is not None and self.carries(part) else None
        if before is None:
            own = RuleTally(len(self.rules))
            self._judge(plan.beside, [group.beside for group in plan.groups], context, plan, own)
            counts = {position: count for position, count in enumerate(own.counts) if count}
            before = KeptBeside(counts, own.faulty, own.looked)
        self._beside[context.number] = before
        for position, count in before.counts.items():
            tally.counts[position] += count
        for position, found in before.faulty.items():
            faults = [(context.number, element, fault) for _, element, fault in found]
            tally.faulty.setdefault(position, []).extend(faults)
        tally.looked |= before.looked

    def _judge(
        self, views: Sequence[int], steps: Sequence[Steps], context: Context, plan: RulePlan, tally: RuleTally
    ) -> None:
        """Let each rule judge the elements of its view that concern it."""
        index, number = self.index, context.number
        for at in views:
            elements = plan.views[at].of(index, number)
            if elements:
                tally.looked.add(at)
                _run(elements, steps[at], context, tally)

    def _judge_by_schema(self, context: Context, plan: RulePlan, tally: RuleTally) -> None:
        """Judge what only the schemas find: elements are just counted, and those with errors are judged."""
        index, schema, number = self.index, context.schema, context.number
        wire = context.exchange.protocol
        misshapen = {place[1] for place in schema.shapes if place} if schema.shapes else ()
        for view, wires, steps in plan.by_schema:
            if wire not in wires:
                continue
            is_misshapen = bool(misshapen) and BODIES[view.side] in misshapen
            faulty: Sequence[Any] = ()
            if view.count_quickly is not None and (view.at is not None or not is_misshapen):
                count = view.count_quickly(index, number)
                if view.at is not None and (is_misshapen or schema.unknown):
                    faulty = view.at(index, number, {*schema.shapes, *schema.unknown})
            else:
                elements = view.of(index, number)
                count = len(elements)
                if is_misshapen or schema.unknown:
                    faulty = [at for at in elements if at.place in schema.shapes or at.place in schema.unknown]
            for step in steps if count else ():
                before = tally.counts[step[0]]
                if faulty and step[0] not in tally.errors:
                    _judge_alone(faulty, ((None, (step,)),), context, tally)
                # Those that were judged were counted as well, and are among all.
                tally.counts[step[0]] = before + count


def _run(elements: Sequence[Any], steps: Steps, context: Context, tally: RuleTally) -> None:
    """Let rules judge elements of one exchange."""
    counts, faulty, number = tally.counts, tally.faulty, context.number
    for element in elements:
        for shared, sharing in steps:
            if shared is not None and not shared(element, context):
                continue
            for position, where, judge_element in sharing:
                if where is None or where(element, context):
                    counts[position] += 1
                    faults = judge_element(element, context)
                    if faults:
                        faulty.setdefault(position, []).extend([(number, element, fault) for fault in faults])


def _judge_alone(elements: Sequence[Any], steps: Steps, context: Context, tally: RuleTally) -> None:
    position = steps[0][1][0][0]
    if (error := raised(partial(_run, elements, steps, context, tally))) is not None:
        tally.errors[position] = error


def raised(judging: Callable[[], None]) -> Exception | None:
    """Return what a rule raises while it judges; None if it raises nothing."""
    try:
        judging()
    except Exception as error:  # noqa: BLE001 — the one place that turns a broken rule into an outcome
        return error
    return None


class _Kept:
    """Judges one request by what is new in it, and keeps what is found for the next one."""

    __slots__ = ("context", "counts", "faults", "number", "part", "plan", "run", "shuffled", "tally")

    def __init__(self, run: RuleRun, context: Context, plan: RulePlan, tally: RuleTally) -> None:
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
            spans = [KeptSpan(self.number, piece.begin, piece.end) for piece in part.pieces]
            if begin is None and part.start:
                spans.insert(0, KeptSpan(self.number, 0, part.start))
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
        for position, element, fault in begin.found():
            if position not in whole:
                self.faults.setdefault(position, []).append((number, element, fault))
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
                    block.faults += [(position, request, fault) for fault in faults]

    def _judge_elements(self, elements: Sequence[Any], steps: Steps, context: Context, block: KeptBlock) -> None:
        settled, counts, number = self.plan.settled, self.counts, self.number
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
                    if faults:
                        block.faults += [(position, element, fault) for fault in faults]

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
