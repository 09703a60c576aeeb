"""Where the replies of a run come from (cassettes, the simulator, an endpoint), and how its requests are sent."""

import time
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from conformance.errors import Unusable
from conformance.observations.sights import digest
from conformance.profiles import Profile
from conformance.results import NOT_PLAYED, Evidence
from conformance.results.record import ExchangesDigest
from conformance.scenarios import Scenario
from conformance.secrets import scrubber
from conformance.simulator import simulated
from conformance.suite.options import Options, key_for
from conformance.transport.client import Client, Endpoint, Inconclusive, RunStopped
from conformance.transport.interaction import Keep, RawInteraction
from conformance.transport.recording import Take
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from conformance.wire.exchange import Exchange


class Replies:
    """What replies in a run, by its options, and the model that is requested."""

    def __init__(self, options: Options, profile: Profile) -> None:
        """Choose the model; raises Unusable if there is none."""
        self._options = options
        self._profile = profile
        self.cassettes = CassetteFolder(options.cassettes, profile.name)
        self.model = options.model or self.default_model
        if not self.model:
            raise Unusable(f"{profile.title} has no default model; select one with --model")

    @property
    def is_replay(self) -> bool:
        """Return True if the cassettes reply, not a provider or the simulator."""
        return not (self._options.record or self._options.plan or self._options.is_live)

    @property
    def is_of_further_model(self) -> bool:
        """Return True for a replay of another model than the default one; its results have a name of their own."""
        return self.is_replay and self.model != self.default_model

    @cached_property
    def default_model(self) -> str:
        """The profile's model; for a replay without real replies of it, the model of a recorded engine if any.

        The replies of an engine are better evidence than those of the simulator.
        """
        model = self._profile.model
        entries = self.cassettes.manifest() if self.is_replay else {}
        engines = [name for name, entry in entries.items() if entry.engine and entry.engine["default"]]
        is_real = model in entries and entries[model].evidence is not Evidence.SIMULATED
        return engines[0] if engines and not is_real else model

    @cached_property
    def entry(self) -> ManifestEntry | None:
        """What the manifest states of the cassettes that reply."""
        return self.cassettes.manifest().get(self.model) if self.is_replay else None

    @property
    def versions(self) -> Mapping[str, str]:
        """Return the versions of the engine that replies or was recorded; empty for anything else."""
        engine = self._options.engine
        if self.is_replay:
            engine = self.entry.engine if self.entry is not None else None
        return engine["versions"] if engine is not None else {}

    def not_played(self, scenario: Scenario, variant: str) -> str:
        """Return why a case that the claims allow is not played; empty if it is.

        A real recording that is older than a scenario need not hold it.
        """
        name = f"{scenario.name}.{variant}"
        entry = None if self.entry is None else self.entry.of(name)
        if entry is None or entry.evidence is Evidence.SIMULATED or entry.date >= scenario.since:
            return ""
        if self.cassettes.path(self.model, name).exists():
            return ""
        return f"{NOT_PLAYED}: recorded on {entry.date}, before there was this scenario; record it again: {entry.again}"

    def prepare(self, profile: Profile, playable: Collection[str], stack: ExitStack) -> tuple[Evidence, Endpoint]:
        """Return what the replies are, and where requests go; a simulator that has to run ends with the stack.

        `profile` has the claims of the run, `playable` are the cases that they allow. Raises Unusable if a replay has
        a cassette of none.
        """
        options = self._options
        if options.plan:
            return Evidence.SIMULATED, Endpoint(profile.base_url)
        if options.has_endpoint:
            exclusive = options.engine is not None
            url, key = options.base_url or profile.base_url, key_for(profile, options.base_url)
            found = scrubber([key, *[value for _, value in options.headers]], [url])
            seconds, headers = options.request_timeout, options.headers
            return Evidence.LIVE, Endpoint(url, key, seconds, exclusive, found, profile.wire, headers)
        if options.record:
            url = stack.enter_context(simulated(profile))
            return Evidence.SIMULATED, Endpoint(f"{url}/v1", wire=profile.wire)
        entry = self.entry
        if entry is None or not set(self.cassettes.cases(self.model)).intersection(playable):
            raise Unusable(self._no_cassettes())
        # Cassettes answer at any address; a provider with one address per customer has none in its profile.
        url = profile.base_url or "http://localhost"
        return entry.evidence, Endpoint(url, exclusive=entry.evidence is Evidence.ENGINE, wire=profile.wire)

    def _no_cassettes(self) -> str:
        others = ", ".join(self.cassettes.manifest()) or "none"
        return (
            f"there are no cassettes of {self._profile.name}'s {self.model} "
            f"(models with cassettes: {others}); add --live to use the provider's API, --base-url for another server, "
            f"or --record to record the simulator"
        )


class Requests:
    """Sends the requests of a run, up to its limits.

    `stopped` says why nothing more is sent, once the time of the run is over or its requests are spent. `sent` counts
    the requests, and `exchanges` is the digest of those that were answered. `ceiling` is the limit
    of requests without --max-requests, once a run has named one.
    """

    def __init__(self, endpoint: Endpoint, options: Options, stack: ExitStack) -> None:
        """Take what to close with the stack; the client is opened when the first request is sent."""
        self.stopped = ""
        self.sent = 0
        self.ceiling: int | None = None
        self._endpoint = endpoint
        self._options = options
        self._stack = stack
        self.exchanges = ExchangesDigest()
        self._ends = time.monotonic() + options.max_time

    @cached_property
    def _client(self) -> Client:
        return self._stack.enter_context(Client(self._endpoint, until=self._ends))

    def send(self, body: Mapping[str, Any], take: Take | None, kept: Keep | None = None) -> Exchange:
        """Send a request, and give the exchange to a take; raises as the client does, and Inconclusive at the limit.

        `kept` gets the last reply, which answers the request.
        """
        self._count()
        replies: list[RawInteraction] = []

        def keep(reply: RawInteraction) -> None:
            replies.append(reply)
            if take is not None:
                take.keep(reply)

        try:
            exchange = self._client.send(body, keep)
        except Inconclusive as error:
            if take is not None and error.exchange is None:
                take.lost += 1
            if isinstance(error, RunStopped):
                self.stopped = str(error)
            raise
        finally:
            if kept is not None and replies:
                kept(replies[-1])
            # What the client has sent again, after a 429 or an error of the server, counts as well.
            self.sent += max(0, len(replies) - 1)
        self.exchanges.add(digest(exchange))
        return exchange

    def _count(self) -> None:
        """Count a request; raises Inconclusive if it exceeds the limit, so that the results so far are kept."""
        limit = self._options.max_requests or self.ceiling
        if self._options.is_live and limit is not None and self.sent >= limit:
            self.stopped = f"the limit of {limit} requests is reached; raise it with --max-requests"
            raise Inconclusive(self.stopped)
        self.sent += 1
