"""The rules while they judge the exchanges of a conversation, one after the other.

What they found in messages is kept in blocks, so that a request that begins with the same messages is judged by what is
new in it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from conformance.profiles import Profile
from conformance.rules import UNCLAIMED, Rule
from conformance.rules.context import Claimant, Context, SchemaFaults
from conformance.rules.kept import KeptBeside, KeptBlock, RuleTally
from conformance.rules.new_messages import NativeBlocks, NewMessages
from conformance.rules.plans import Chosen, RulePlan, Steps, plan_of
from conformance.rules.validation import BODIES, SchemaFinder
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.parts import ExchangePart

# One object, because plans are cached by the identity of the claims.
_NO_CLAIMS: Final[Mapping[str, Any]] = {}
_NO_CLAIMANT: Final = Claimant()


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
            NewMessages(self, context, plan, tally).judge(self._sent, self._resent, self._native)
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
