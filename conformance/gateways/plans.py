"""What is run of a gateway, and its results: one front before one back, with the four bodies of each loss."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import orjson

from conformance.environments import Log
from conformance.fidelity.passages import Pair
from conformance.gateways import runs
from conformance.gateways.definition import GatewayDefinition, profile_of
from conformance.gateways.playing import Front
from conformance.gateways.runs import CaseResult
from conformance.gateways.serving import WORK, serving_gateway
from conformance.gateways.upstream import Upstream, serving_upstream
from conformance.results import Status
from conformance.results.record import RunRecord, Selection, package_version
from conformance.results.runs import Case, Results, SentRequest
from conformance.transport.unreachable import require_http

UNNAMED: Final = "gateway"
"""The name of a gateway that is only a URL."""

_MAX_BODY: Final = 60_000
"""Characters of a body that results keep."""

OnCase: TypeAlias = Callable[[CaseResult, int, int], None]
"""Called at the end of each case with the case, how many have ended, and how many there are."""


@dataclass(frozen=True, slots=True)
class GatewayPlan:
    """What to run: a name with its version, the wire of the front, the provider behind, and which cases."""

    name: str
    front: str
    back: str
    model: str = ""
    only: tuple[str, ...] = ()
    today: str = ""

    @property
    def subject(self) -> str:
        """Return the name of what is tested: the gateway at one front."""
        return f"{self.name}:{self.front}"


@dataclass(frozen=True, slots=True)
class GatewayRun:
    """The results of a plan, and each case."""

    results: Results
    cases: tuple[CaseResult, ...] = field(repr=False)
    strays: tuple[str, ...] = ()


def run_shipped(definition: GatewayDefinition, plan: GatewayPlan, cache: Path, log: Log, on_case: OnCase) -> GatewayRun:
    """Install and start a gateway, run a plan, and end it."""
    with (
        serving_upstream(profile_of(plan.back), plan.model) as upstream,
        serving_gateway(definition, plan.front, plan.back, upstream, cache, log) as front,
    ):
        found = run(plan, front, upstream, on_case)
    return replace(found, results=without_folders(found.results, cache))


def without_folders(results: Results, cache: Path) -> Results:
    """Return results without the folders of this machine, which gateways name in the traces of their errors."""
    folders = "|".join(map(re.escape, (str(cache), f"{tempfile.gettempdir()}/{WORK}")))
    text = re.sub(
        rf"(?:{folders})[\w./@+-]*?(?=/node_modules|/lib/|/bin/|[^\w./@+-])",
        "…",
        orjson.dumps(results.to_json()).decode(),
    )
    return Results.from_json(orjson.loads(text))


def run_at(plan: GatewayPlan, front: Front, port: int, on_case: OnCase) -> GatewayRun:
    """Run a plan with a gateway that is running, whose provider is at a port of this machine."""
    require_http(front.base_url)
    with serving_upstream(profile_of(plan.back), plan.model, port) as upstream:
        named = replace(front, model=front.model or upstream.model)
        return run(plan, named, upstream, on_case)


def run(plan: GatewayPlan, front: Front, upstream: Upstream, on_case: OnCase) -> GatewayRun:
    """Play all cases of a plan."""
    every = runs.cases(front.wire, upstream.profile, upstream.model)
    chosen = runs.cases(front.wire, upstream.profile, upstream.model, plan.only)
    played: list[CaseResult] = []
    for number, case in enumerate(chosen, 1):
        played.append(runs.play(case, front, upstream))
        on_case(played[-1], number, len(chosen))
    by = tuple([f"--scenario {each}" for each in plan.only])
    record = RunRecord(
        package_version(),
        plan.today,
        plan.front,
        urlsplit(front.base_url).hostname or "",
        Selection(len(chosen), len(every), by=by if len(chosen) < len(every) else ()),
        sum([len(each.pairs) for each in played]),
    )
    kept = tuple(_with_bodies(played))
    results = Results(plan.subject, front.model, kept, upstream.profile.name, run=record)
    return GatewayRun(results, tuple(played), tuple(upstream.strays))


def _with_bodies(played: Sequence[CaseResult]) -> Iterator[Case]:
    """Yield the cases; the smallest one that shows a loss of a fact has its four bodies."""
    proofs: dict[str, tuple[int, int, str]] = {}
    for at, each in enumerate(played):
        for outcome in each.case.outcomes:
            if outcome.status is Status.FAILED:
                number = outcome.findings[0].at.split("/")[1]
                rank = len(each.pairs), at, number
                proofs[outcome.rule] = min(proofs.get(outcome.rule, rank), rank)
    wanted: dict[int, set[int]] = {}
    for _, at, number in proofs.values():
        wanted.setdefault(at, set()).add(int(number))
    for at, each in enumerate(played):
        numbers = wanted.get(at, set())
        bodies = [body for pair in each.pairs if pair.number in numbers for body in bodies_of(pair)]
        yield replace(each.case, requests=tuple(bodies))


def bodies_of(pair: Pair) -> Iterator[SentRequest]:
    """Yield the four bodies of a pair, as they were sent, each with its end and direction as its path."""
    for end, exchange in (("front", pair.front), ("back", pair.answer)):
        if exchange is None:
            continue
        received = exchange.as_received
        for name, body in (("request", received.request), ("response", received.response)):
            kept = body[:_MAX_BODY] if isinstance(body, str) else body
            yield SentRequest(pair.number, f"{end}/{name} {received.status or ''}".strip(), kept)
