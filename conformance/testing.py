"""Suites for authors of adapters: every scenario of a simulated provider as a test of one's own client.

    from conformance.testing import AdapterSuite

    class TestAgent(AdapterSuite):
        provider = "deepseek"

        def connect(self, simulation):
            return Agent(simulation.base_url, simulation.api_key, simulation.model, simulation.tools)

        def ask(self, client, prompt):
            return client.ask(prompt)

pytest then runs `test_conforms[deepseek-agent-session.stream]` and its siblings; nothing else has to be set up.
"""

import asyncio
import inspect
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from conformance import processes, profiles, scenarios
from conformance.adapters.driver import SECONDS, Driver, Surroundings, drive
from conformance.adapters.loop import with_rules
from conformance.adapters.simulation import Simulation, simulation
from conformance.baseline import Entry, cover, load
from conformance.errors import UnknownName, Unusable
from conformance.gate import CheckResult, check_results
from conformance.gate import name as check_name
from conformance.profiles import Profile
from conformance.reporting.renderers.adapter import render
from conformance.results import Outcome
from conformance.scenarios import VARIANTS, Scenario
from conformance.simulator.sessions import SessionServer
from conformance.suite.options import on_wire

__all__ = ["AdapterSuite"]

_INCOMPLETE: Final = "define `ask(self, client, prompt)`, or `command` for a driver"
_KEYS: Final = ("provider", "scenario", "protocol", "variant", "model", "strict", "check")


@dataclass(frozen=True, slots=True)
class ClientCase:
    """A scenario that a client is played through: with which provider and model, and how.

    With `strict` the simulator rejects what the provider rejects. `check`: the requests are checked at the end of the
    test, whether or not it asks for that.
    """

    profile: Profile
    scenario: Scenario
    variant: str
    model: str = ""
    strict: bool = False
    check: bool = True

    @property
    def name(self) -> str:
        """Return the name of the case, as in results: `<scenario>.<variant>`."""
        return f"{self.scenario.name}.{self.variant}"

    @property
    def ruled_out(self) -> str:
        """Return which claim rules the scenario out; empty if it can be played."""
        claims = self.profile.at(self.model or self.profile.model)
        unmet = self.scenario.unmet(claims)
        return "" if unmet is None else f"{self.profile.name} claims {unmet} = {claims.get(unmet)!r}"


def profile_of(provider: str, protocol: str) -> Profile:
    """Return the profile of a provider on a wire, by default its first; raises UnknownName or Unusable."""
    return on_wire(profiles.load_profile(provider), protocol)


def opened(server: SessionServer, case: ClientCase) -> Simulation:
    """Return the simulation of a case; raises Unusable if the provider's claims rule it out."""
    session = server.open(case.scenario, case.profile, case.variant, case.model, strict=case.strict)
    return simulation(session, lambda report: render(report, lambda _colour, text: text))


def cases(selection: Mapping[str, Any]) -> list[Any]:
    """Return the cases that a marker or a suite selects, as pytest's parameters; those ruled out by claims are skipped.

    Raises Unusable for a key or value that is not one, and UnknownName for a provider or scenario that does not exist.
    """
    for key in selection:
        if key not in _KEYS:
            raise UnknownName("argument of the marker conformance", key, _KEYS)
    globs, variants = _several(selection, "scenario", "*"), _several(selection, "variant", VARIANTS)
    for variant in variants:
        if variant not in VARIANTS:
            raise UnknownName("variant", variant, VARIANTS)
    found: list[Any] = []
    for provider in _several(selection, "provider", ()):
        profile = profile_of(provider, selection.get("protocol", ""))
        for scenario in scenarios.played_by_clients(profile.wire, globs):
            found += _parameters(profile, scenario, variants, selection)
    if not found:
        raise Unusable(f"no scenario of this wire and variant fits {', '.join(globs)}")
    return found


def _parameters(
    profile: Profile, scenario: Scenario, variants: Sequence[str], selection: Mapping[str, Any]
) -> Iterator[Any]:
    more = {key: selection[key] for key in ("model", "strict", "check") if key in selection}
    for variant in variants:
        if variant in scenario.variants:
            case = ClientCase(profile, scenario, variant, **more)
            marks = [pytest.mark.skip(reason=case.ruled_out)] if case.ruled_out else []
            yield pytest.param(case, id=f"{profile.name}-{case.name}", marks=marks)


def _several(selection: Mapping[str, Any], key: str, otherwise: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as several; raises Unusable if there is none."""
    value = selection.get(key) or otherwise
    names = (value,) if isinstance(value, str) else tuple(value)
    if not names or not all(isinstance(each, str) for each in names):
        raise Unusable(f"{key}: expected a name or several, got {value!r}")
    return names


class AdapterSuite:
    """A suite of tests for one adapter: subclass it, and say how your client is asked one prompt.

    `provider`: the name of a provider, a path of a profile, or several. `protocol`: the wire (chat, messages,
    responses, gemini; by default the provider's first). `scenario`: a name, a glob or several. `variants`: leave out
    what your client cannot do. `strict`: requests that the provider rejects get its error. `warnings`: a broken SHOULD
    fails, too. `baseline`: a file of expected failures beside the test, whose entries name `name`, by default the
    class. `command`: the driver of an adapter in another language, which runs in `folder`, by default that of the test,
    with `environment` and for `seconds` at most; see docs/adapters.md.
    """

    __test__ = False

    provider: ClassVar[str | Sequence[str]] = ()
    protocol: ClassVar[str] = ""
    scenario: ClassVar[str | Sequence[str]] = "*"
    variants: ClassVar[Sequence[str]] = VARIANTS
    model: ClassVar[str] = ""
    strict: ClassVar[bool] = False
    warnings: ClassVar[bool] = False
    baseline: ClassVar[str] = ""
    name: ClassVar[str] = ""
    command: ClassVar[str | Sequence[str]] = ()
    folder: ClassVar[str] = "."
    environment: ClassVar[Mapping[str, str]] = {}
    seconds: ClassVar[float] = SECONDS

    def __init_subclass__(cls, **more: Any) -> None:
        """Let pytest collect every subclass, whatever its base says."""
        super().__init_subclass__(**more)
        cls.__test__ = cls.__dict__.get("__test__", True)

    def connect(self, simulation: Simulation) -> Any:
        """Return your client for a simulated provider; may be async. It is made once for each case."""
        return simulation

    def ask(self, client: Any, prompt: str) -> Any:  # noqa: ARG002 — what a suite overrides
        """Ask your client one prompt, in one conversation with those before; return its final text. May be async."""
        raise Unusable(f"{type(self).__name__}: {_INCOMPLETE}")

    def close(self, client: Any) -> Any:
        """Close the client; may be async."""

    def test_conforms(self, simulation: Simulation) -> None:
        """The client sends what the provider takes, and answers with what it was sent."""
        outcomes, error = self._by_command(simulation) if self.command else self._by_methods(simulation)
        self._compare(simulation, outcomes, error)

    def _by_methods(self, simulation: Simulation) -> tuple[tuple[Outcome, ...], BaseException | None]:
        texts: list[str | None] = []
        error = asyncio.run(self._conversation(simulation, texts))
        if error is not None and not isinstance(error, Exception):
            raise error  # `pytest.skip()` and its siblings.
        return simulation.verdict(texts, error), error

    async def _conversation(self, simulation: Simulation, texts: list[str | None]) -> BaseException | None:
        """Ask the client every prompt, and return what it raised: that belongs to its verdict."""
        client = await _awaited(self.connect(simulation))

        async def asked() -> None:
            for prompt in simulation.prompts:
                texts.append(await _awaited(self.ask(client, prompt)))

        (error,) = await asyncio.gather(asked(), return_exceptions=True)
        await _awaited(self.close(client))
        return error

    def _by_command(self, simulation: Simulation) -> tuple[tuple[Outcome, ...], None]:
        words = shlex.split(self.command) if isinstance(self.command, str) else self.command
        folder = _beside(type(self), self.folder)
        driver = Driver(tuple(words), folder, self.environment, self.seconds, uses_network=True)
        with processes.Children() as children:
            result = drive(driver, simulation.job, Surroundings(children))
        if result.answer is None:
            pytest.fail(result.failure, pytrace=False)
        return simulation.verdict_on(result.answer), None

    def _compare(self, simulation: Simulation, outcomes: tuple[Outcome, ...], error: BaseException | None) -> None:
        """Fail for what the baseline does not expect, and for what it expects and does not happen; else expect it."""
        checked = check_results(simulation.results(outcomes, self._subject()))
        bad = [each for each in checked if each.is_bad or (self.warnings and each.status.value == "failed")]
        mine = [each for each in self._entries() if any(each.covers(check.names) for check in checked)]
        coverage = cover([each for each in bad if each.is_failure], mine, _today())
        unexpected = {each.check for each in bad} - {each.check for each, _ in coverage.expected}
        if unexpected:
            report = simulation.report(tuple([each for each in outcomes if each.rule in unexpected]))
            report += self._hint(bad, unexpected)
            if error is None:
                pytest.fail(report, pytrace=False)
            raise AssertionError(report) from error
        stale = [each for each in coverage.unused if "*" not in each.match]
        if stale:
            shown = "; ".join([f"{each.match} (line {each.line})" for each in stale])
            pytest.fail(f"stale expected failures in {self.baseline}, remove them: {shown}", pytrace=False)
        if coverage.expected:
            pytest.xfail("; ".join(dict.fromkeys([entry.reason for _, entry in coverage.expected])))

    def _hint(self, bad: Iterable[CheckResult], unexpected: set[str]) -> str:
        """Return how a failure is expected, in suites with a baseline."""
        if not self.baseline:
            return ""
        names = [each.names[0] for each in bad if each.check in unexpected and each.is_failure]
        return "".join(
            [f"\nto expect it, add `- match: {each}` with reason, link and until to {self.baseline}" for each in names]
        )

    @classmethod
    def _subject(cls) -> str:
        return cls.name or cls.__name__

    @classmethod
    def _entries(cls) -> tuple[Entry, ...]:
        return load(_beside(cls, cls.baseline), today=_today()) if cls.baseline else ()

    @classmethod
    def _conformance_selection(cls) -> dict[str, Any]:
        """Return what the suite's cases are, as the marker names it; raises Unusable if the suite is incomplete."""
        if not cls.provider:
            raise Unusable(f'{cls.__name__}: say which provider is simulated, as in `provider = "deepseek"`')
        if cls.ask is AdapterSuite.ask and not cls.command:
            raise Unusable(f"{cls.__name__}: {_INCOMPLETE}")
        if cls.baseline and not _beside(cls, cls.baseline).is_file():
            raise Unusable(f"{cls.__name__}: baseline {cls.baseline}: no such file beside the test")
        selection = {
            "provider": cls.provider, "scenario": cls.scenario, "protocol": cls.protocol, "variant": cls.variants,
            "model": cls.model, "strict": cls.strict,
        }  # fmt: skip
        cls._check_entries(selection)
        return selection

    @classmethod
    def _check_entries(cls, selection: Mapping[str, Any]) -> None:
        """Raise Unusable for an entry of the baseline that fits no case and rule of the suite: it can never be met."""
        if not cls.baseline:
            return
        chosen = [parameter.values[0] for parameter in cases(selection)]
        names = [
            check_name(f"{cls._subject()}/{case.profile.name}", case.name, rule)
            for case in chosen for rule in with_rules()
        ]  # fmt: skip
        for entry in cls._entries():
            if not entry.covers(names):
                raise Unusable(f"{cls.baseline}:{entry.line}: {entry.match} fits no case and rule of {cls.__name__}")


async def _awaited(value: Any) -> Any:
    """Return a value, or what it gives once it is awaited."""
    return await value if inspect.isawaitable(value) else value


def _beside(suite: type, path: str) -> Path:
    """Return a path that is meant from the folder of the file that defines a suite."""
    file = getattr(sys.modules.get(suite.__module__), "__file__", None)
    return Path(file).parent / path if file else Path(path)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
