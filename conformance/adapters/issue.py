"""What a bug report about an adapter rests on: the smallest case in which it breaks a rule, and the request in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance import profiles, scenarios
from conformance.adapters import loop
from conformance.adapters.case import CaseRun
from conformance.adapters.loop import Fact
from conformance.documents.pointer import parse
from conformance.errors import UnknownName, Unusable
from conformance.profiles import Claim, Profile
from conformance.results import Case, Finding, Level, Outcome, Results, Status
from conformance.rule_ids import current_id
from conformance.rules import Rule
from conformance.scenarios import Scenario
from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Issue:
    """A rule that an adapter breaks with a provider, shown by the smallest case.

    `broken` are the names of all cases in which it breaks the rule, of `played` ones. `exchange` is the whole exchange
    of the finding; it is None if only results are known, which hold excerpts.
    """

    results: Results
    profile: Profile
    rule: Rule | Fact
    case: Case
    finding: Finding
    broken: tuple[str, ...]
    played: int
    exchange: Exchange | None = None

    @property
    def scenario(self) -> Scenario:
        """Return the scenario of the case."""
        return scenarios.load(self.case.scenario)

    @property
    def number(self) -> int:
        """Return the number of the request that shows it, from 1; 0 if the finding is about the whole session."""
        first = parse(self.finding.at)[:1]
        return int(first[0]) + 1 if first and first[0].isdecimal() else 0

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of the provider that say what it does, with their sources."""
        if not isinstance(self.rule, Rule):
            return ()
        found = {name: self.profile.claim(name, self.results.model) for name in (*self.rule.claims, *self.rule.reads)}
        known = {name: claim for name, claim in found.items() if claim is not None}
        return tuple([each for name, each in known.items() if name in self.rule.claims or self._is_refusal(each)])

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
    profile = profiles.load_profile(provider) if profiles.is_path(provider) else None
    provider = profile.name if profile is not None else provider
    own = [each for each in many if each.provider and named in (each.subject, each.subject.partition("@")[0])]
    if not own:
        raise UnknownName("adapter in these results", named, {each.subject for each in many if each.provider})
    chosen = [each for each in own if provider in ("", each.provider)]
    if not chosen:
        raise UnknownName(f"provider of {named} in these results", provider, {each.provider for each in own})
    found = [issue for each in chosen if (issue := _of_results(each, rule, profile)) is not None]
    if not found:
        cases = [case for results in chosen for case in results.cases]
        broken = sorted({each.rule for case in cases for each in _broken(case)})
        message = f"{named} breaks no {rule.id} in these results; it breaks {', '.join(broken) or 'nothing'}"
        errors = [each.reason for case in cases for each in case.outcomes if each.status is Status.ERRORED]
        raise Unusable(
            message + (f"; of its checks {len(errors)} errored, the first with: {errors[0]}" if errors else "")
        )
    return min(found, key=lambda each: (*_size(each.case), each.results.name))


def with_exchange(issue: Issue, runs: Sequence[CaseRun]) -> Issue:
    """Return an issue with the whole exchange of its finding, from the run that its results come from."""
    run = next((each for each in runs if each.case.name == issue.case.name), None)
    position = issue.number - 1
    if run is None or not 0 <= position < len(run.conversation):
        return issue
    return replace(issue, exchange=run.conversation[position])


def _rule(rule_id: str) -> Rule | Fact:
    known = loop.with_rules()
    if current_id(rule_id) not in known:
        raise UnknownName("rule", rule_id, known)
    return known[current_id(rule_id)]


def _of_results(results: Results, rule: Rule | Fact, profile: Profile | None) -> Issue | None:
    failing = [(case, each) for case in results.cases for each in _broken(case) if each.rule == rule.id]
    if not failing:
        return None
    case, outcome = min(failing, key=lambda pair: _size(pair[0]))
    worst = max(outcome.findings, key=lambda each: each.level.severity)
    return Issue(
        results,
        profile or profiles.load(results.provider),
        rule,
        case,
        worst,
        tuple([each.name for each, _ in failing]),
        sum(1 for each in results.cases if each.outcomes),
    )


def _broken(case: Case) -> Iterator[Outcome]:
    """Yield the outcomes that break a MUST or a SHOULD, with findings to show."""
    for outcome in case.outcomes:
        if outcome.status is Status.FAILED and outcome.findings and outcome.level is not Level.MAY:
            yield outcome


def _size(case: Case) -> tuple[int, bool, str]:
    """Return what orders cases: the exchanges of the scenario, then plain before streamed, then the name."""
    return len(scenarios.load(case.scenario).turns), case.variant != "plain", case.name
