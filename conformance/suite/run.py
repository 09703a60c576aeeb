"""One run of the suites against a provider: its options, its endpoint, its cases and their results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from typing import Any, NamedTuple

from conformance import baseline, profiles, scenarios
from conformance.core_facts import CoreFact, core_facts, untested
from conformance.errors import InvalidDocument, Unusable
from conformance.gate import GateResult, check_subjects
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.resources import folder
from conformance.results import UNREADABLE, Evidence
from conformance.results.calibration import calibration_of, counts
from conformance.results.record import RunRecord, Selection, package_version
from conformance.results.runs import Case, Results, RunClaim
from conformance.scenarios import Scenario
from conformance.secrets import Scrubber
from conformance.suite import recorder
from conformance.suite.failures import ExpectedFailures
from conformance.suite.options import AUTO, OFF, ON, Options, check_base_url, on_wire
from conformance.suite.play import merged, play
from conformance.suite.recorder import host_of
from conformance.suite.rehearsal import Plan, plan
from conformance.suite.replies import Replies, Requests
from conformance.suite.run_claims import (
    MODE,
    QUESTION,
    ThinkingAnswer,
    ask,
    contradicted,
    given_claims,
    missing,
    switch,
    with_run_claims,
    with_switch,
)
from conformance.suite.turns import Progress, Subject, converse
from conformance.suite.unknowns import Unknowns, assuming, unknowns
from conformance.transport.cassette import replaying
from conformance.transport.interaction import Keep, RawInteraction
from conformance.transport.recording import CaseRecorder, Take
from conformance.wire.exchange import Exchange


class KeptExchange(NamedTuple):
    """An exchange of a run that settles what is unknown: its case, its probe if it is one, and what came."""

    case: str
    probe: str
    interaction: RawInteraction


QUESTION_CASE = "thinking-question.plain"
"""The name of the cassette with the question whether the model thinks."""


class Run:
    """Plays each case once, when it is first requested; close it to stop what it started."""

    def __init__(self, options: Options) -> None:
        """Prepare a run; raises UnknownName or Unusable, which name what to change, before anything is sent."""
        if options.base_url:
            check_base_url(options.base_url)
        self.options = options
        self.profile: Profile = on_wire(profiles.load_profile(options.provider), options.protocol)
        if options.repeat > 1 and (options.record or not options.has_endpoint):
            raise Unusable("--repeat needs a real endpoint: add --live or --base-url, and omit --record")
        if options.only_unknown:
            _check_only_unknown(options)
        if options.thinking == AUTO and not options.has_endpoint:
            raise Unusable("--thinking auto needs a real endpoint to ask: add --live or --base-url, or use on or off")
        self._replies = Replies(options, self.profile)
        self.model = self._replies.model
        self.kept: list[KeptExchange] = []
        self._cases: dict[str, Case] = {}
        self.claims: dict[str, RunClaim] = {}
        self.ended = "the run goes on, or it was killed"
        self.selection: Selection | None = None
        self._exchanges: list[Exchange] = []
        self.answer: ThinkingAnswer | None = None
        self._thinking = self._set_claims()
        self.expected_failures = self._expected_failures()
        self._stack = ExitStack()
        self._recording: CaseRecorder | None = None
        if options.record and not options.plan:
            begun = recorder.begin(options, self.profile, self.model, self._replies.cassettes)
            self._recording = self._stack.enter_context(begun)
        try:
            self._evidence, self._endpoint = self._replies.prepare(self.profile, self._playable(), self._stack)
        except BaseException:
            self._stack.close()
            raise
        self._requests = Requests(self._endpoint, options, self._stack)

    def close(self, *, is_done: bool = True) -> None:
        """Stop what the run started. Unless it is done, what it has recorded replaces nothing, and can be resumed."""
        with self._stack:
            if self._recording is not None and is_done and not self.stopped:
                names = {f"{scenario.name}.{variant}" for scenario, variant in self.cases()}
                cases, old = self._cases.values(), self._recording.old
                entry = recorder.entry(self.options, self.profile, self.model, cases, self.claims, old)
                self._recording.finish(entry, self._cases, is_whole=names <= set(self._cases))

    def end(self, reason: str = "") -> None:
        """Note that the run ended: with all that was selected, or early for a reason."""
        self.ended = reason

    @property
    def evidence(self) -> Evidence:
        """What the replies of the run are."""
        return self._evidence

    @property
    def scrubber(self) -> Scrubber | None:
        """What removes the secrets of a live run from all that it writes and prints; None for any other run."""
        return self._endpoint.scrubber

    @property
    def stopped(self) -> str:
        """Why the run sends nothing more, once its time is over; what it did not ask is untested."""
        return self._requests.stopped

    @property
    def left_out(self) -> Mapping[str, str]:
        """Why cases were not recorded, by name."""
        return {} if self._recording is None else self._recording.left_out

    @property
    def staged(self) -> tuple[str, ...]:
        """The names of the cases that are recorded and have not replaced a cassette."""
        return () if self._recording is None else self._recording.staged

    def plan(self, cases: Iterable[tuple[Scenario, str]]) -> Plan:
        """Return the requests that these cases need."""
        played = [each for each in cases if not self._replies.not_played(*each)]
        profile = assuming(self.profile, self.model) if self.options.only_unknown else self.profile
        return plan(profile, self.model, played, self._switch, asks=self.asks)

    @property
    def asks(self) -> bool:
        """Return True if the run has yet to ask whether the model thinks, because no claim says it."""
        is_wanted = self.options.has_endpoint and self.options.thinking not in (ON, OFF)
        return is_wanted and self.answer is None and self._known.get(MODE) == UNKNOWN

    def cases(self) -> Iterator[tuple[Scenario, str]]:
        """Yield every scenario for providers in each of its variants, even if the claims rule it out."""
        for scenario in map(scenarios.load, scenarios.names()):
            for variant in scenario.variants if not scenario.for_clients else ():
                yield scenario, variant

    def limit(self, requests: int) -> None:
        """Send no more requests than that, unless the user has set a limit."""
        self._requests.ceiling = requests

    @cached_property
    def unknowns(self) -> Unknowns:
        """What is unknown or contested of the core facts before the run, and what settles it."""
        return unknowns(self.profile, self.model, self.options.variant)

    def chosen_cases(self) -> Iterator[tuple[Scenario, str]]:
        """Yield the cases of the chosen variant, by default all; or only those that settle what is unknown."""
        if self.options.only_unknown:
            yield from self.unknowns.cases
            return
        for scenario, variant in self.cases():
            if self.options.variant in ("", variant):
                yield scenario, variant

    def case(self, scenario: Scenario, variant: str) -> Case:
        """Return the results of a case, which is played when it is first requested; raises Unusable."""
        name = f"{scenario.name}.{variant}"
        if name not in self._cases:
            if self.asks:
                self._ask()
            runs = [self._case(name, scenario, variant) for _ in range(self.options.repeat)]
            self._cases[name] = merged(runs) if len(runs) > 1 else runs[0]
        return self._cases[name]

    def progress(self, scenario: Scenario, variant: str) -> Progress:
        """Play the turns of a scenario without its probes; raises Unusable, and InvalidDocument for a cassette."""
        if not self._replies.is_replay:
            return converse(scenario, variant, self._subject())
        with replaying(self._replies.cassettes.path(self.model, f"{scenario.name}.{variant}")):
            return converse(scenario, variant, self._subject())

    def unmet(self, scenario: Scenario) -> str | None:
        """Return the claim that rules a scenario out, if one does."""
        return scenario.unmet(self._known)

    def _case(self, name: str, scenario: Scenario, variant: str) -> Case:
        if self.unmet(scenario) is not None:
            return play(scenario, variant, self._subject())
        if note := self._replies.not_played(scenario, variant):
            return Case(scenario.name, variant, self._evidence, note=note)
        if self._recording is not None:
            return recorder.record(
                self._recording, name, lambda take: play(scenario, variant, self._subject(take=take))
            )
        if not self._replies.is_replay:
            return play(scenario, variant, self._subject(case=name))
        evidence = self._replies.entry.of(name).evidence if self._replies.entry is not None else self._evidence
        try:
            with replaying(self._replies.cassettes.path(self.model, name)):
                return play(scenario, variant, self._subject(evidence))
        except InvalidDocument as error:
            # A broken cassette costs its case, and not the run.
            return Case(scenario.name, variant, evidence, note=f"{UNREADABLE}: {error}")

    def _subject(self, evidence: Evidence | None = None, take: Take | None = None, case: str = "") -> Subject:
        def send(body: Mapping[str, Any], probe: str = "") -> Exchange:
            exchange = self._requests.send(with_switch(body, self._switch), take, self._keep(case, probe))
            # Only what the user claims is compared with what the replies show; the rest would be kept for nothing.
            self._exchanges += [exchange] if self.options.claims else []
            return exchange

        def send_probe(probe: str, body: Mapping[str, Any]) -> Exchange:
            return send(body, probe)

        return Subject(self.profile, self.model, send, evidence or self._evidence, send_probe)

    def _keep(self, case: str, probe: str) -> Keep | None:
        """Return what keeps the reply to a request, without secrets, in a run that settles what is unknown."""
        if not self.options.only_unknown:
            return None
        secrets = self._endpoint.scrubber or Scrubber()
        return lambda reply: self.kept.append(KeptExchange(case, probe, reply.without_secrets(secrets)))

    def _ask(self) -> None:
        """Ask whether the model thinks; what the reply shows becomes a claim of this run."""

        def answered(take: Take | None) -> ThinkingAnswer:
            keep = self._keep(QUESTION_CASE, "")
            send = partial(self._requests.send, take=take, kept=keep)
            return ask(Subject(self.profile, self.model, send, self._evidence))

        if self._recording is None:
            self.answer = answered(None)
        else:
            self.answer = recorder.record(self._recording, QUESTION_CASE, answered)
        self._claim({name: RunClaim(value, QUESTION) for name, value in self.answer.claims.items()})

    def _set_claims(self) -> str:
        """Take over the claims of the user and, in a replay, of the recording; return what thinking is set to."""
        options = self.options
        entry = self._replies.entry
        if entry is not None:
            self._claim(entry.claims)
        self._claim(given_claims(self._known, options.thinking, options.claims))
        return options.thinking or (entry.thinking if entry is not None else "")

    def _claim(self, claims: Mapping[str, RunClaim]) -> None:
        if claims:
            self.claims |= claims
            self.profile = self.profile.with_claims({name: claim.value for name, claim in claims.items()})

    @property
    def _known(self) -> Claims:
        """Return the claims of the profile and of the run about the model."""
        return self.profile.at(self.model, "")

    @property
    def _switch(self) -> Mapping[str, Any]:
        return switch(self._known, self._thinking)

    def expected_failure(self, case: Case, name: str) -> str:
        """Return the reason why a failure of a case is expected; empty if it is not."""
        entry = self.expected_failures.covering(self._name, case, name)
        return "" if entry is None else entry.reason

    def unexpected_pass(self, case: Case, name: str) -> str:
        """Return what is wrong with a pass of a case that an entry expects to fail; empty if there is none."""
        entry = self.expected_failures.naming(self._name, case, name)
        if entry is None:
            return ""
        return f"passes, but is expected to fail: {entry.reason} Remove the entry {entry.match}."

    def stale_entries(self, *, deselected: bool) -> GateResult:
        """Return which expected failures are stale, expired or unmatched; `deselected`: some items did not run."""
        names = {f"{scenario.name}.{variant}" for scenario, variant in self.cases()}
        unknown = any(case.is_inconclusive or case.is_unreadable for case in self._cases.values())
        is_complete = not deselected and not unknown and names == set(self._cases)
        return self.expected_failures.check_entries(self.results(), is_complete=is_complete)

    def core_facts(self) -> tuple[CoreFact, ...]:
        """Return the core facts from everything that was played so far."""
        cases = tuple(self._cases.values())
        facts = core_facts(cases, self._known)
        return with_run_claims(facts, cases, self.claims, is_live=self.options.is_live)

    def contradicted_claims(self) -> tuple[str, ...]:
        """Return in words the claims of the user that replies contradict."""
        return tuple(contradicted(self.claims, self._exchanges, self._known))

    def missing_claims(self) -> tuple[str, ...]:
        """Return the claims of core facts that a profile of the user's own lacks; none for a profile with a name."""
        is_whole = self.selection is None or self.selection.is_whole
        return tuple(missing(self.core_facts(), self._known, is_whole=is_whole)) if self.profile.path else ()

    def _expected_failures(self) -> ExpectedFailures:
        """Return the expected failures of the subject; raises Unusable for an entry of the user's about another one."""
        options, entries, played = self.options, self._expected(), self._played(RunRecord())
        if options.expected is not None:
            check_subjects([played], entries, str(options.expected))
        return ExpectedFailures.of_subject(played.name, entries, options.today, allow_wide=options.allow_wide_baseline)

    def _expected(self) -> Sequence[baseline.Entry]:
        """Return the expected failures of the given file, or the project's own if its own cassettes are replayed."""
        if self.options.expected is not None:
            return baseline.load(self.options.expected, today=self.options.today)
        return baseline.load() if self._replies.is_replay and self.options.cassettes == folder("cassettes") else ()

    def results(self) -> Results:
        """Return the results so far, with what the run did; `end` says that it is over."""
        return self._played(self._record())

    def _played(self, record: RunRecord) -> Results:
        """Return the results; a replay of another model than the default one has a name of its own."""
        cases, replies = tuple(self._cases.values()), self._replies
        further = replies.is_of_further_model
        return Results(self.profile.name, self.model, cases, "", replies.versions, further, self.claims, run=record)

    @property
    def _name(self) -> str:
        return self._played(RunRecord()).name

    def _record(self) -> RunRecord:
        every = len([*self.cases()])
        selection = self.selection or Selection(every, every)
        lacking = selection.cases - len(self._cases)
        ended = self.stopped or self.ended
        if not ended and lacking > 0:
            ended = f"{lacking} of {selection.cases} selected cases have no results"
        # A replay is as old as its recording, so that it gives the same results on any day.
        entry, sent = self._replies.entry, self._requests
        date = entry.date if entry is not None else self.options.today
        host = entry.host if entry is not None else host_of(self.options, self.profile)
        version, digest = package_version(), sent.exchanges.hexdigest()
        problems = self._problems(selection) if self._cases else ()
        return RunRecord(version, date, self.profile.wire, host, selection, sent.sent, digest, ended, problems)

    def _problems(self, selection: Selection) -> tuple[str, ...]:
        """Return what is wrong with the run as a whole; what a part of the tests does not test is no problem."""
        found = [f"contradicted claim: {each}" for each in self.contradicted_claims()]
        found += [f"missing claim: {each}" for each in self.missing_claims()]
        # What a check of a case says of itself is in the results already, where an expected failure may cover it.
        known = tuple([f"{name}: " for name in self._cases])
        for fact in untested(self.core_facts()) if selection.is_whole else ():
            if reasons := [each for each in fact.reasons if not each.startswith(known)]:
                found.append(f"untested: {fact.title}: {'; '.join(reasons)}")
        return tuple(found)

    def confirmed(self) -> dict[str, int]:
        """Return how many recordings of real traffic confirm each claim, by the last calibration."""
        evidence = calibration_of(self.profile)
        return {name: counts(evidence, self.profile, name, self.model).confirmed for name in self._known}

    def _playable(self) -> list[str]:
        return [f"{each.name}.{variant}" for each, variant in self.cases() if each.unmet(self._known) is None]


def _check_only_unknown(options: Options) -> None:
    """Raise Unusable if a run cannot settle what is unknown."""
    if not (options.has_endpoint or options.plan):
        raise Unusable("--only-unknown needs a real endpoint to ask: add --live, or --base-url, or --plan")
    if options.record or options.repeat > 1:
        raise Unusable("--only-unknown asks once and keeps its exchanges; omit --record and --repeat")
