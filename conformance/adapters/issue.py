"""What a bug report about an adapter rests on: the case that shows best that it breaks a rule, and its request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance import profiles, scenarios
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.adapters.proof import BrokenCase, broken, proofs, strength
from conformance.errors import UnknownName, Unusable
from conformance.profiles import Claim, Profile, naming
from conformance.results import Finding, Level, Status
from conformance.results.runs import Case, Results
from conformance.rules import Rule
from conformance.scenarios import Scenario
from conformance.shrinking import shrink
from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Issue:
    """A rule that an adapter breaks with a provider, shown by the strongest evidence: a MUST, and the smallest case.

    `broken` are the names of all cases in which it breaks the rule, of `played` ones.
    """

    results: Results
    profile: Profile
    rule: Rule | Fact
    proof: BrokenCase
    broken: tuple[str, ...]
    played: int

    @property
    def case(self) -> Case:
        """Return the case that shows it."""
        return self.proof.case

    @property
    def finding(self) -> Finding:
        """Return the finding that shows it."""
        return self.proof.finding

    @property
    def scenario(self) -> Scenario:
        """Return the scenario of the case; whole agents are driven through some of their own."""
        name = self.case.scenario
        return scenarios.load(name) if name in scenarios.names() else scenarios.load_driven(name)

    @property
    def level(self) -> Level:
        """Return how severe it is with this provider, which may know another answer than the rule."""
        return self.finding.level

    @property
    def number(self) -> int:
        """Return the number of the request that shows it, from 1; 0 if the finding is about the whole session."""
        return 0 if self.proof.exchange is None else self.proof.exchange + 1

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of the provider that say what it does, with their sources."""
        if not isinstance(self.rule, Rule):
            return ()
        found = {name: self.profile.claim(name, self.results.model) for name in (*self.rule.claims, *self.rule.reads)}
        known = {name: claim for name, claim in found.items() if claim is not None}
        return tuple([each for name, each in known.items() if name in self.rule.claims or self._is_refusal(each)])

    def smallest(self) -> Any:
        """Return the smallest request that breaks the rule alone; None if it takes a session, or was not kept."""
        sent = self.proof.request
        if sent is None or not isinstance(self.rule, Rule):
            return None
        try:
            shrunk = shrink((Exchange(request=sent.body, model=self.results.model),), self.rule.id, self.profile)
        except Unusable:
            return None
        return shrunk.conversation[0].as_received.request

    def _is_refusal(self, claim: Claim) -> bool:
        """Return True if a claim has the answer that the finding shows."""
        refusal = self.finding.refusal
        return (
            refusal is not None
            and isinstance(claim.value, Mapping)
            and (claim.value.get("status"), claim.value.get("message")) == (refusal.status, refusal.message)
        )


def find(many: Sequence[Results], named: str, rule_id: str, provider: str = "") -> Issue:
    """Return the issue for an adapter (NAME or NAME@VERSION) and a rule, from its results.

    `provider` is a name or the path of a profile; without one, that with the smallest case is chosen. Raises
    UnknownName for an unknown rule or adapter, and Unusable, with what it does break, if it does not break the rule.
    """
    rule = _rule(rule_id)
    meant = naming.reference(provider) if provider else ""
    profile = profiles.load_profile(meant) if profiles.is_path(meant) else None
    provider = profile.name if profile is not None else meant
    own = [each for each in many if each.provider and named in (each.subject, each.subject.partition("@")[0])]
    if not own:
        raise UnknownName("adapter in these results", named, {each.subject for each in many if each.provider})
    chosen = [each for each in own if provider in ("", each.provider)]
    if not chosen:
        raise UnknownName(f"provider of {named} in these results", provider, {each.provider for each in own})
    found = [issue for each in chosen if (issue := _of_results(each, rule, profile)) is not None]
    if not found:
        cases = [case for results in chosen for case in results.cases]
        rules = sorted({each.rule for case in cases for each in broken(case)})
        message = f"{named} breaks no {rule.id} in these results; it breaks {', '.join(rules) or 'nothing'}"
        errors = [each.reason for case in cases for each in case.outcomes if each.status is Status.ERRORED]
        raise Unusable(
            message + (f"; of its checks {len(errors)} errored, the first with: {errors[0]}" if errors else "")
        )
    return min(found, key=lambda each: (*strength(each.proof), each.results.name))


def _rule(rule_id: str) -> Rule | Fact:
    known = loop.with_rules()
    if rule_id not in known:
        raise UnknownName("rule", rule_id, known)
    return known[rule_id]


def _of_results(results: Results, rule: Rule | Fact, profile: Profile | None) -> Issue | None:
    proof = proofs(results.cases).get(rule.id)
    if proof is None:
        return None
    return Issue(
        results,
        profile or profiles.load(results.provider),
        rule,
        proof,
        tuple([case.name for case in results.cases if rule.id in {each.rule for each in broken(case)}]),
        sum(1 for each in results.cases if each.outcomes),
    )
