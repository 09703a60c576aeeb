"""One run of a provider's suites: what is played, against whom, and what came of it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from conformance import baseline, profiles, scenarios
from conformance.documents import parse_json, read_json
from conformance.errors import Unusable
from conformance.gate import GateResult
from conformance.profiles import Profile
from conformance.resources import folder
from conformance.results import INCONCLUSIVE, Case, Evidence, Results
from conformance.scenarios import Scenario
from conformance.simulator import simulated
from conformance.suite.expected_failures import Excuses
from conformance.suite.plan import Plan, plan
from conformance.suite.play import Subject, play
from conformance.suite.repeat import merged
from conformance.transport.cassette import Entry, Shelf, recording, replaying
from conformance.transport.client import SIMULATOR, Client, Endpoint, Inconclusive
from conformance.wire.exchange import Exchange

KEY = "CONFORMANCE_API_KEY"
"""The environment variable whose key goes to a --base-url that is not the provider's own."""

BASE_URL = "CONFORMANCE_BASE_URL"
"""The environment variable with the server that a live run asks where no --base-url is given."""

MODEL = "CONFORMANCE_MODEL"
"""The environment variable with the model that it asks for where no --model is given."""

ENGINE = "CONFORMANCE_ENGINE"
"""The environment variable that says as JSON which engine that server is; `conformance engine run` sets all three.

Its members are those of `Options` with the same names: `engine` and `hidden`.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run was asked for.

    `today` is the ISO day that a recording is noted with. `plan`: nothing is to be sent. `max_requests`: no more than
    so many are sent to a real endpoint. `engine`: what the manifest says of the engine that is asked; `hidden`: the
    folders of this machine that may stand in its replies, and what is recorded in their places. `expected`: the file
    of expected failures; without one, the project's own where its own cassettes are replayed. `repeat`: how often
    each case is played.
    """

    provider: str
    cassettes: Path
    today: str
    model: str = ""
    live: bool = False
    record: bool = False
    base_url: str = ""
    plan: bool = False
    max_requests: int | None = None
    engine: Mapping[str, Any] | None = None
    hidden: Mapping[str, str] = field(default_factory=dict)
    expected: Path | None = None
    repeat: int = 1

    @property
    def asks(self) -> bool:
        """Say whether the run asks a real endpoint."""
        return not self.plan and (self.live or bool(self.base_url))


def handed_over(options: Options) -> Options:
    """Return the options of a live run with what the environment says of the server; the user's own words go first."""
    if not options.live or options.base_url or not os.environ.get(BASE_URL):
        return options
    told: Any = parse_json(os.environ.get(ENGINE) or "{}", ENGINE)
    model = options.model or os.environ.get(MODEL, "")
    engine, hidden = told.get("engine"), told.get("hidden", {})
    return replace(options, base_url=os.environ[BASE_URL], model=model, engine=engine, hidden=hidden)


class Run:
    """Plays each case once, when it is first asked for; close it to end what it started."""

    def __init__(self, options: Options) -> None:
        """Prepare a run; raises UnknownName or Unusable, with what to change, before anything is sent."""
        self.options = options
        self.profile: Profile = profiles.load(options.provider)
        self._sent = 0
        if options.repeat > 1 and (options.record or not (options.live or options.base_url)):
            raise Unusable("--repeat asks a real endpoint again and again; it needs --live or --base-url, no --record")
        self._shelf = Shelf(options.cassettes, self.profile.name)
        self.model = options.model or self._usual_model()
        if not self.model:
            raise Unusable(f"{self.profile.title} has no usual model; name one with --model")
        self._played: dict[str, Case] = {}
        self.excuses = Excuses.about(self.results().name, self._expected(), options.today)
        self._stack = ExitStack()
        self._evidence, self._endpoint = self._prepare()

    def close(self) -> None:
        """Stop the simulator, where one was started, and note a recording in the manifest."""
        self._stack.close()
        if self.options.record and self._played:
            self._note()

    def plan(self, cases: Iterable[tuple[Scenario, str]]) -> Plan:
        """Return what the run sends for these cases."""
        return plan(self.profile, self.model, cases)

    def cases(self) -> Iterator[tuple[Scenario, str]]:
        """Yield every scenario in each of its variants, whether it can be played or not; none that is for clients."""
        for scenario in map(scenarios.load, scenarios.names()):
            for variant in scenario.variants if not scenario.for_clients else ():
                yield scenario, variant

    def case(self, scenario: Scenario, variant: str) -> Case:
        """Return what came of a case, playing it where that has not been done; raises Unusable or Inconclusive."""
        name = f"{scenario.name}.{variant}"
        if name not in self._played:
            runs = [self._play(name, scenario, variant) for _ in range(self.options.repeat)]
            self._played[name] = merged(runs) if len(runs) > 1 else runs[0]
        return self._played[name]

    def _play(self, name: str, scenario: Scenario, variant: str) -> Case:
        with self._tape(name)(self._shelf.path(self.model, name)), Client(self._endpoint) as client:

            def send(body: Mapping[str, Any]) -> Exchange:
                self._spend()
                return client.send(body)

            subject = Subject(self.profile, self.model, send, self._evidence)
            try:
                return play(scenario, variant, subject)
            except Inconclusive as error:
                return Case(scenario.name, variant, self._evidence, note=f"{INCONCLUSIVE}: {error}")

    def _spend(self) -> None:
        """Count a request; raises Unusable where it would be one too many."""
        most = self.options.max_requests
        if self.options.asks and most is not None and self._sent >= most:
            raise Unusable(f"the budget of {most} requests is used up; allow more with --max-requests")
        self._sent += 1

    @property
    def sent(self) -> int:
        """Return how many requests were sent so far, probes included."""
        return self._sent

    def excuse(self, case: Case, name: str) -> str:
        """Return why a failure of a case is known and excused, empty where it is not."""
        entry = self.excuses.of(self.results().name, case, name)
        return "" if entry is None else entry.reason

    def untrue(self, case: Case, name: str) -> str:
        """Return what is wrong with a pass of a case, empty where nothing is: an entry says that it fails."""
        entry = self.excuses.of_nothing_else(self.results().name, case, name)
        return "" if entry is None else f"passes, though expected to fail: {entry.reason} Take {entry.match} away."

    def verdict(self, *, chosen: bool) -> GateResult:
        """Return what the gate says of the expected failures themselves; `chosen`: some items were deselected."""
        names = {f"{scenario.name}.{variant}" for scenario, variant in self.cases()}
        unknown = any(case.is_inconclusive for case in self._played.values())
        whole = not chosen and not unknown and names == set(self._played)
        return self.excuses.judgement(self.results(), whole=whole)

    def _expected(self) -> Sequence[baseline.Entry]:
        """Return the expected failures of the file that was named, or of the project where it replays its own."""
        if self.options.expected is not None:
            return baseline.load(self.options.expected)
        return () if self._asked or self.options.cassettes != folder("cassettes") else baseline.load()

    def results(self) -> Results:
        """Return everything that was played so far; a replay of another model than the usual one has its own name."""
        further = not self._asked and self.model != self._usual_model()
        cases = tuple(self._played.values())
        return Results(self.profile.name, self.model, cases, versions=self._versions, further=further)

    def confirmed(self) -> dict[str, int]:
        """Return by how many recordings of real traffic each claim was confirmed when the profiles were calibrated."""
        path = folder("reports") / "results" / "calibration" / f"{self.profile.name}.json"
        if not path.exists():
            return {}
        evidence: Any = read_json(path)
        return {name: counts["confirmed"] for name, counts in evidence["claims"].items()}

    @property
    def _asked(self) -> bool:
        """Say whether somebody is to answer, instead of the cassettes."""
        return self.options.record or self.options.plan or self.options.asks

    @property
    def _versions(self) -> Mapping[str, str]:
        """Return the versions of the engine that is asked, or was recorded; none of anyone else are known."""
        about = self.options.engine
        if not self._asked:
            entry = self._shelf.manifest().get(self.model)
            about = entry.engine if entry is not None else None
        return about["versions"] if about is not None else {}

    def _usual_model(self) -> str:
        """Return the profile's own model, or for a replay the one that an engine was recorded with, if none else was.

        What an engine did says more than what a simulator would have done.
        """
        if self._asked:
            return self.profile.model
        entries = self._shelf.manifest()
        usual = entries.get(self.profile.model)
        engines = [model for model, entry in entries.items() if entry.engine and entry.engine["default"]]
        return engines[0] if engines and (usual is None or usual.evidence is Evidence.SIMULATED) else self.profile.model

    def _prepare(self) -> tuple[Evidence, Endpoint]:
        options, profile = self.options, self.profile
        if options.plan:
            return Evidence.SIMULATED, Endpoint(profile.base_url)
        if options.live or options.base_url:
            alone = options.engine is not None
            return Evidence.LIVE, Endpoint(options.base_url or profile.base_url, self._key(), alone=alone)
        if options.record:
            url = self._stack.enter_context(simulated(profile))
            return Evidence.SIMULATED, Endpoint(f"{url}/v1")
        entry = self._shelf.manifest().get(self.model)
        missing = [name for name in self._playable() if not self._shelf.path(self.model, name).exists()]
        if entry is None or missing:
            raise Unusable(self._no_cassettes(missing))
        # Cassettes answer whatever the address; a provider whose every customer has one of their own has none here.
        url = profile.base_url or "http://localhost"
        return entry.evidence, Endpoint(url, alone=entry.evidence is Evidence.ENGINE)

    def _playable(self) -> list[str]:
        claims = self.profile.at(self.model, "")
        return [f"{each.name}.{variant}" for each, variant in self.cases() if each.unmet(claims) is None]

    def _no_cassettes(self, missing: list[str]) -> str:
        others = ", ".join(self._shelf.manifest()) or "none"
        return (
            f"there are no cassettes of {self.profile.name}'s {self.model} for {', '.join(missing) or 'any case'} "
            f"(models with cassettes: {others}); add --live to ask the provider itself, --base-url for another server, "
            f"or --record to record the simulator"
        )

    def _key(self) -> str:
        """Return the key to send; a provider's key never goes to a host that is not the provider's."""
        host = urlsplit(self.options.base_url).hostname
        if self.options.base_url and host not in (*self.profile.hosts, urlsplit(self.profile.base_url).hostname):
            return os.environ.get(KEY, "")
        key = os.environ.get(self.profile.key, "")
        if not key:
            message = (
                f"{self.profile.title} needs a key for a live run: set {self.profile.key}, "
                "or leave --live away to replay the cassettes"
            )
            raise Unusable(message)
        return key

    def _tape(self, name: str) -> Callable[[Path], AbstractContextManager[None]]:
        if name not in self._playable():
            return lambda _path: nullcontext()
        if self.options.record:
            return lambda path: recording(path, self.options.hidden)
        return replaying if self._evidence is not Evidence.LIVE else lambda _path: nullcontext()

    def _note(self) -> None:
        engine = self.options.engine
        is_simulated = any(case.evidence is Evidence.SIMULATED for case in self._played.values())
        if engine is not None and not is_simulated:
            versions = {**engine["versions"], "wire-conformance": version("wire-conformance")}
            again = f"conformance engine record {engine['name']} --template {engine['template']}"
            self._shelf.note(self.model, Entry(Evidence.ENGINE, self.options.today, versions, again, engine))
            return
        evidence = Evidence.SIMULATED if self._evidence is Evidence.SIMULATED else Evidence.RECORDED
        evidence = Evidence.SIMULATED if is_simulated else evidence
        versions = {"wire-conformance": version("wire-conformance")}
        if evidence is Evidence.SIMULATED:
            versions[SIMULATOR] = versions["wire-conformance"]
        asked = " --live" if self.options.live else ""
        again = f"conformance record --provider {self.profile.name} --model {self.model}{asked}"
        before = self._shelf.manifest().get(self.model)
        unchanged = before is not None and (before.evidence, before.versions) == (evidence, versions)
        date = (
            before.date if before is not None and unchanged and evidence is Evidence.SIMULATED else self.options.today
        )
        self._shelf.note(self.model, Entry(evidence, date, versions, again))
