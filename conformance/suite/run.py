"""One run of the suites against a provider: its options, its endpoint, its cases and their results."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from conformance import baseline, profiles, scenarios
from conformance.core_facts import CoreFact, core_facts
from conformance.documents import read_json
from conformance.errors import InvalidDocument, Unusable
from conformance.gate import GateResult
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.resources import folder
from conformance.results import UNREADABLE, Evidence
from conformance.results.calibration import counts
from conformance.results.runs import Case, Results, RunClaim
from conformance.scenarios import Scenario
from conformance.secrets import Scrubber, scrubber
from conformance.simulator import simulated
from conformance.suite import recorder
from conformance.suite.expected_failures import ExpectedFailures
from conformance.suite.options import Options, check_base_url, key_for, on_wire
from conformance.suite.plan import Plan, plan
from conformance.suite.play import Progress, Subject, converse, play
from conformance.suite.repeat import merged
from conformance.suite.run_claims import (
    AUTO,
    MODE,
    OFF,
    ON,
    QUESTION,
    Answer,
    ask,
    given_claims,
    switch,
    with_run_claims,
    with_switch,
)
from conformance.transport.cassette import replaying
from conformance.transport.client import Client, Endpoint, Inconclusive, OutOfTime
from conformance.transport.recording import CaseRecorder, Take
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from conformance.wire.exchange import Exchange

QUESTION_CASE = "thinking-question.plain"
"""The name of the cassette with the question whether the model thinks."""


class Run:
    """Plays each case once, when it is first requested; close it to stop what it started.

    `stopped` says why the run sends nothing more, once its time is over; what it did not ask is untested.
    """

    def __init__(self, options: Options) -> None:
        """Prepare a run; raises UnknownName or Unusable, which name what to change, before anything is sent."""
        if options.base_url:
            check_base_url(options.base_url)
        self.options = options
        self.profile: Profile = on_wire(profiles.load_profile(options.provider), options.protocol)
        self._sent = 0
        self._ends = time.monotonic() + options.max_time
        self.stopped = ""
        if options.repeat > 1 and (options.record or not options.has_endpoint):
            raise Unusable("--repeat needs a real endpoint: add --live or --base-url, and omit --record")
        if options.thinking == AUTO and not options.has_endpoint:
            raise Unusable("--thinking auto needs a real endpoint to ask: add --live or --base-url, or use on or off")
        self._cassettes = CassetteFolder(options.cassettes, self.profile.name)
        self.model = options.model or self._default_model()
        if not self.model:
            raise Unusable(f"{self.profile.title} has no default model; select one with --model")
        self._cases: dict[str, Case] = {}
        self.claims: dict[str, RunClaim] = {}
        self.answer: Answer | None = None
        self._thinking = self._set_claims()
        self.expected_failures = ExpectedFailures.of_subject(self.results().name, self._expected(), options.today)
        self._stack = ExitStack()
        self._recording: CaseRecorder | None = None
        if options.record and not options.plan:
            begun = recorder.begin(options, self.profile, self.model, self._cassettes)
            self._recording = self._stack.enter_context(begun)
        try:
            self._evidence, self._endpoint = self._prepare()
        except BaseException:
            self._stack.close()
            raise

    def close(self, *, is_done: bool = True) -> None:
        """Stop what the run started. Unless it is done, what it has recorded replaces nothing, and can be resumed."""
        with self._stack:
            if self._recording is not None and is_done and not self.stopped:
                names = {f"{scenario.name}.{variant}" for scenario, variant in self.cases()}
                cases, old = self._cases.values(), self._recording.old
                entry = recorder.entry(self.options, self.profile, self.model, cases, self.claims, old)
                self._recording.finish(entry, self._cases, is_whole=names <= set(self._cases))

    @property
    def evidence(self) -> Evidence:
        """What the replies of the run are."""
        return self._evidence

    @property
    def scrubber(self) -> Scrubber | None:
        """What removes the secrets of a live run from all that it writes and prints; None for any other run."""
        return self._endpoint.scrubber

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
        return plan(self.profile, self.model, cases, self._switch, asks=self.asks)

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
        if not self._is_replay:
            return converse(scenario, variant, self._subject())
        with replaying(self._cassettes.path(self.model, f"{scenario.name}.{variant}")):
            return converse(scenario, variant, self._subject())

    def unmet(self, scenario: Scenario) -> str | None:
        """Return the claim that rules a scenario out, if one does."""
        return scenario.unmet(self._known)

    def _case(self, name: str, scenario: Scenario, variant: str) -> Case:
        if self.unmet(scenario) is not None:
            return play(scenario, variant, self._subject())
        if self._recording is not None:
            return recorder.record(
                self._recording, name, lambda take: play(scenario, variant, self._subject(take=take))
            )
        if not self._is_replay:
            return play(scenario, variant, self._subject())
        evidence = self._entry.of(name).evidence if self._entry is not None else self._evidence
        try:
            with replaying(self._cassettes.path(self.model, name)):
                return play(scenario, variant, self._subject(evidence))
        except InvalidDocument as error:
            # A broken cassette costs its case, and not the run.
            return Case(scenario.name, variant, evidence, note=f"{UNREADABLE}: {error}")

    def _subject(self, evidence: Evidence | None = None, take: Take | None = None) -> Subject:
        def send(body: Mapping[str, Any]) -> Exchange:
            return self._send(with_switch(body, self._switch), take)

        return Subject(self.profile, self.model, send, evidence or self._evidence)

    def _send(self, body: Mapping[str, Any], take: Take | None) -> Exchange:
        self._count_request()
        try:
            return self._client.send(body, None if take is None else take.keep)
        except Inconclusive as error:
            if take is not None and error.exchange is None:
                take.lost += 1
            if isinstance(error, OutOfTime):
                self.stopped = str(error)
            raise

    def _ask(self) -> None:
        """Ask whether the model thinks; what the reply shows becomes a claim of this run."""

        def answered(take: Take | None) -> Answer:
            return ask(Subject(self.profile, self.model, lambda body: self._send(body, take), self._evidence))

        if self._recording is None:
            self.answer = answered(None)
        else:
            self.answer = recorder.record(self._recording, QUESTION_CASE, answered)
        self._claim({name: RunClaim(value, QUESTION) for name, value in self.answer.claims.items()})

    def _set_claims(self) -> str:
        """Take over the claims of the user and, in a replay, of the recording; return what thinking is set to."""
        options = self.options
        entry = self._entry
        if entry is not None:
            self._claim(entry.claims)
        self._claim(given_claims(self._known, options.thinking, options.claims))
        return options.thinking or (entry.thinking if entry is not None else "")

    def _claim(self, claims: Mapping[str, RunClaim]) -> None:
        if claims:
            self.claims |= claims
            self.profile = self.profile.with_claims({name: claim.value for name, claim in claims.items()})

    @cached_property
    def _entry(self) -> ManifestEntry | None:
        """What the manifest states of the cassettes that reply."""
        return self._cassettes.manifest().get(self.model) if self._is_replay else None

    @cached_property
    def _client(self) -> Client:
        """Return the client of the run, opened when the first request is sent."""
        return self._stack.enter_context(Client(self._endpoint, until=self._ends))

    @property
    def _known(self) -> Claims:
        """Return the claims of the profile and of the run about the model."""
        return self.profile.at(self.model, "")

    @property
    def _switch(self) -> Mapping[str, Any]:
        return switch(self._known, self._thinking)

    def _count_request(self) -> None:
        """Count a request; raises Unusable if it exceeds the limit."""
        limit = self.options.max_requests
        if self.options.is_live and limit is not None and self._sent >= limit:
            raise Unusable(f"the limit of {limit} requests is reached; raise it with --max-requests")
        self._sent += 1

    def expected_failure(self, case: Case, name: str) -> str:
        """Return the reason why a failure of a case is expected; empty if it is not."""
        entry = self.expected_failures.covering(self.results().name, case, name)
        return "" if entry is None else entry.reason

    def unexpected_pass(self, case: Case, name: str) -> str:
        """Return what is wrong with a pass of a case that an entry expects to fail; empty if there is none."""
        entry = self.expected_failures.naming(self.results().name, case, name)
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

    def _expected(self) -> Sequence[baseline.Entry]:
        """Return the expected failures of the given file, or the project's own if its own cassettes are replayed."""
        if self.options.expected is not None:
            return baseline.load(self.options.expected)
        return baseline.load() if self._is_replay and self.options.cassettes == folder("cassettes") else ()

    def results(self) -> Results:
        """Return the results so far; a replay of another model than the default one has a name of its own."""
        further = self._is_replay and self.model != self._default_model()
        cases = tuple(self._cases.values())
        return Results(self.profile.name, self.model, cases, "", self._versions, further, self.claims)

    def confirmed(self) -> dict[str, int]:
        """Return how many recordings of real traffic confirm each claim, by the last calibration."""
        path = folder("reports") / "results" / "calibration" / f"{self.profile.name}.json"
        if not path.exists():
            return {}
        evidence: Any = read_json(path)
        return {name: counts(evidence, self.profile, name, self.model).confirmed for name in self._known}

    @property
    def _is_replay(self) -> bool:
        """Return True if the cassettes reply, not a provider or the simulator."""
        return not (self.options.record or self.options.plan or self.options.is_live)

    @property
    def _versions(self) -> Mapping[str, str]:
        """Return the versions of the engine that replies or was recorded; empty for anything else."""
        engine = self.options.engine
        if self._is_replay:
            engine = self._entry.engine if self._entry is not None else None
        return engine["versions"] if engine is not None else {}

    def _default_model(self) -> str:
        """Return the profile's model; for a replay without real replies of it, the model of a recorded engine if any.

        The replies of an engine are better evidence than those of the simulator.
        """
        model = self.profile.model
        entries = self._cassettes.manifest() if self._is_replay else {}
        engines = [name for name, entry in entries.items() if entry.engine and entry.engine["default"]]
        is_real = model in entries and entries[model].evidence is not Evidence.SIMULATED
        return engines[0] if engines and not is_real else model

    def _prepare(self) -> tuple[Evidence, Endpoint]:
        options, profile = self.options, self.profile
        if options.plan:
            return Evidence.SIMULATED, Endpoint(profile.base_url)
        if options.has_endpoint:
            exclusive = options.engine is not None
            url, key = options.base_url or profile.base_url, key_for(profile, options.base_url)
            found = scrubber([key], [url])
            return Evidence.LIVE, Endpoint(url, key, options.request_timeout, exclusive, found, profile.wire)
        if options.record:
            url = self._stack.enter_context(simulated(profile))
            return Evidence.SIMULATED, Endpoint(f"{url}/v1", wire=profile.wire)
        entry = self._entry
        if entry is None or not set(self._cassettes.cases(self.model)).intersection(self._playable()):
            raise Unusable(self._no_cassettes())
        # Cassettes answer at any address; a provider with one address per customer has none in its profile.
        url = profile.base_url or "http://localhost"
        return entry.evidence, Endpoint(url, exclusive=entry.evidence is Evidence.ENGINE, wire=profile.wire)

    def _playable(self) -> list[str]:
        return [f"{each.name}.{variant}" for each, variant in self.cases() if each.unmet(self._known) is None]

    def _no_cassettes(self) -> str:
        others = ", ".join(self._cassettes.manifest()) or "none"
        return (
            f"there are no cassettes of {self.profile.name}'s {self.model} "
            f"(models with cassettes: {others}); add --live to use the provider's API, --base-url for another server, "
            f"or --record to record the simulator"
        )
