"""One run of the suites against a provider: its options, its endpoint, its cases and their results."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

from conformance import baseline, profiles, scenarios
from conformance.core_facts import CoreFact, core_facts
from conformance.documents import read_json
from conformance.errors import Unusable
from conformance.gate import GateResult
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.resources import folder
from conformance.results import Case, Evidence, Results, RunClaim
from conformance.results.calibration import counts
from conformance.scenarios import Scenario
from conformance.secrets import scrubber
from conformance.simulator import simulated
from conformance.suite.expected_failures import ExpectedFailures
from conformance.suite.options import KEY, Options
from conformance.suite.plan import Plan, plan
from conformance.suite.play import Subject, play
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
from conformance.transport.cassette import CassetteFolder, ManifestEntry, recording, replaying
from conformance.transport.client import SIMULATOR, Client, Endpoint, OutOfTime
from conformance.transport.interaction import Keep
from conformance.wire.exchange import Exchange

QUESTION_CASE = "thinking-question.plain"
"""The name of the cassette with the question whether the model thinks."""


class Run:
    """Plays each case once, when it is first requested; close it to stop what it started.

    `stopped` says why the run sends nothing more, once its time is over; what it did not ask is untested.
    """

    def __init__(self, options: Options) -> None:
        """Prepare a run; raises UnknownName or Unusable, which name what to change, before anything is sent."""
        self.options = options
        self.profile: Profile = profiles.load(options.provider)
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
        self._evidence, self._endpoint = self._prepare()

    def close(self) -> None:
        """Stop the simulator if one was started, and enter a recording in the manifest."""
        self._stack.close()
        if self.options.record and self._cases:
            self._enter_recording()

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
            runs = [self._play(name, scenario, variant) for _ in range(self.options.repeat)]
            self._cases[name] = merged(runs) if len(runs) > 1 else runs[0]
        return self._cases[name]

    def _play(self, name: str, scenario: Scenario, variant: str) -> Case:
        with self._recorder(name)(self._cassettes.path(self.model, name)) as keep:

            def send(body: Mapping[str, Any]) -> Exchange:
                return self._send(with_switch(body, self._switch), keep)

            return play(scenario, variant, Subject(self.profile, self.model, send, self._evidence))

    def _send(self, body: Mapping[str, Any], keep: Keep | None) -> Exchange:
        self._count_request()
        try:
            return self._client.send(body, keep)
        except OutOfTime as error:
            self.stopped = str(error)
            raise

    def _ask(self) -> None:
        """Ask whether the model thinks; what the reply shows becomes a claim of this run."""
        path = self._cassettes.path(self.model, QUESTION_CASE)
        recorder = recording(path, self.options.hidden) if self.options.record else nullcontext()
        with recorder as keep:

            def send(body: Mapping[str, Any]) -> Exchange:
                return self._send(body, keep)

            self.answer = ask(Subject(self.profile, self.model, send, self._evidence))
        self._claim({name: RunClaim(value, QUESTION) for name, value in self.answer.claims.items()})

    def _set_claims(self) -> str:
        """Take over the claims of the user and, in a replay, of the recording; return what thinking is set to."""
        options = self.options
        entry = self._cassettes.manifest().get(self.model) if self._is_replay else None
        if entry is not None:
            self._claim(entry.claims)
        self._claim(given_claims(self._known, options.thinking, options.claims))
        return options.thinking or (entry.thinking if entry is not None else "")

    def _claim(self, claims: Mapping[str, RunClaim]) -> None:
        if claims:
            self.claims |= claims
            self.profile = self.profile.with_claims({name: claim.value for name, claim in claims.items()})

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
        unknown = any(case.is_inconclusive for case in self._cases.values())
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
            entry = self._cassettes.manifest().get(self.model)
            engine = entry.engine if entry is not None else None
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
            url, key = options.base_url or profile.base_url, self._key()
            found = scrubber([key], [url])
            return Evidence.LIVE, Endpoint(url, key, options.request_timeout, exclusive, found)
        if options.record:
            url = self._stack.enter_context(simulated(profile))
            return Evidence.SIMULATED, Endpoint(f"{url}/v1")
        entry = self._cassettes.manifest().get(self.model)
        missing = [name for name in self._playable() if not self._cassettes.path(self.model, name).exists()]
        if entry is None or missing:
            raise Unusable(self._no_cassettes(missing))
        # Cassettes answer at any address; a provider with one address per customer has none in its profile.
        url = profile.base_url or "http://localhost"
        return entry.evidence, Endpoint(url, exclusive=entry.evidence is Evidence.ENGINE)

    def _playable(self) -> list[str]:
        return [f"{each.name}.{variant}" for each, variant in self.cases() if each.unmet(self._known) is None]

    def _no_cassettes(self, missing: list[str]) -> str:
        others = ", ".join(self._cassettes.manifest()) or "none"
        return (
            f"there are no cassettes of {self.profile.name}'s {self.model} for {', '.join(missing) or 'any case'} "
            f"(models with cassettes: {others}); add --live to use the provider's API, --base-url for another server, "
            f"or --record to record the simulator"
        )

    def _key(self) -> str:
        """Return the key to send; a provider's key is only sent to the provider's own hosts."""
        host = urlsplit(self.options.base_url).hostname
        if self.options.base_url and host not in (*self.profile.hosts, urlsplit(self.profile.base_url).hostname):
            return os.environ.get(KEY, "")
        key = os.environ.get(self.profile.key, "")
        if not key:
            message = (
                f"{self.profile.title} needs a key for a live run: set {self.profile.key}, "
                "or omit --live to replay the cassettes"
            )
            raise Unusable(message)
        return key

    def _recorder(self, name: str) -> Callable[[Path], AbstractContextManager[Keep | None]]:
        if name not in self._playable():
            return lambda _path: nullcontext()
        if self.options.record:
            return lambda path: recording(path, self.options.hidden)
        return replaying if self._evidence is not Evidence.LIVE else lambda _path: nullcontext()

    def _enter_recording(self) -> None:
        engine = self.options.engine
        is_simulated = any(case.evidence is Evidence.SIMULATED for case in self._cases.values())
        if engine is not None and not is_simulated:
            versions = {**engine["versions"], "wire-conformance": version("wire-conformance")}
            again = f"conformance engine record {engine['name']} --template {engine['template']}"
            self._enter(ManifestEntry(Evidence.ENGINE, self.options.today, versions, again, engine))
            return
        evidence = Evidence.SIMULATED if self._evidence is Evidence.SIMULATED else Evidence.RECORDED
        evidence = Evidence.SIMULATED if is_simulated else evidence
        versions = {"wire-conformance": version("wire-conformance")}
        if evidence is Evidence.SIMULATED:
            versions[SIMULATOR] = versions["wire-conformance"]
        live = " --live" if self.options.live else ""
        again = f"conformance record --provider {self.profile.name} --model {self.model}{live}"
        if self.options.claims or self._thinking in (ON, OFF):
            again = f"pytest --provider={self.profile.name} --model={self.model}{live} --record{self._own_options()}"
        before = self._cassettes.manifest().get(self.model)
        unchanged = before is not None and (before.evidence, before.versions) == (evidence, versions)
        date = (
            before.date if before is not None and unchanged and evidence is Evidence.SIMULATED else self.options.today
        )
        self._enter(ManifestEntry(evidence, date, versions, again))

    def _enter(self, entry: ManifestEntry) -> None:
        thinking = self._thinking if self._thinking in (ON, OFF) else ""
        self._cassettes.add(self.model, replace(entry, thinking=thinking, claims=self.claims))

    def _own_options(self) -> str:
        thinking = f" --thinking={self._thinking}" if self._thinking in (ON, OFF) else ""
        return thinking + "".join([f" --claim {quote(text)}" for text in self.options.claims])
