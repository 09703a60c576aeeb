"""What `adapter bisect` and `adapter timeline` share: the releases of an adapter, and the run of one of them."""

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli import _adapters
from conformance.errors import ConformanceError, Unusable

if TYPE_CHECKING:
    from conformance.adapters.definition import AdapterDefinition
    from conformance.adapters.runs import RunPlan
    from conformance.evidence.packages.registries import Release
    from conformance.results.runs import Results


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of the runs of releases."""
    add = parser.add_argument
    add("name", metavar="ADAPTER", help="an adapter of this project; see `conformance adapter list`")
    add("--provider", metavar="PROVIDER", default="", help="one of its providers (default: its first)")
    add("--variant", choices=("plain", "stream"), help="request only plain or only streamed replies")
    _adapters.add_playing(parser)
    _adapters.add_folder(parser)


def listed(chosen: "AdapterDefinition") -> "tuple[Release, ...]":
    """Return the releases of an adapter's package, as the configured index or registry lists them, the oldest first."""
    # Imported here because httpx takes long to load, and --help does not need it.
    import httpx

    from conformance.evidence.packages.registries import NotReachable, Registries

    if not chosen.version:
        raise Unusable(f"{chosen.name} has no package with releases")
    registry, tool = ("npm", "npm") if chosen.language == "node" else ("pypi", "pip")
    with httpx.Client(headers={"user-agent": "wire-conformance"}) as client:
        try:
            found = Registries(client).releases(registry, chosen.package)
        except NotReachable as error:
            raise Unusable(
                f"the releases of {chosen.package} cannot be listed: {error}; they come from the index that {tool} is "
                "configured to use, over HTTP"
            ) from None
    if not found:
        raise Unusable(f"the index lists no release of {chosen.package} that is not a pre-release")
    return found


def check(chosen: "AdapterDefinition", arguments: argparse.Namespace) -> None:
    """Refuse a provider that the adapter has not, and scenarios that there are not, before anything is installed."""
    from conformance import scenarios
    from conformance.adapters.driver import Driver
    from conformance.adapters.runs import plan_for

    planned = plan_for(chosen, arguments.provider or chosen.providers[0], Driver(()))
    scenarios.played_by_clients(
        planned.profile.wire, arguments.scenario, agents=bool(chosen.agent), histories=True, states=scenarios.STATES
    )


def plan(chosen: "AdapterDefinition", arguments: argparse.Namespace, cases: Sequence[str] = ()) -> "RunPlan":
    """Return the plan for a release, which is installed if necessary; raises Unusable if that fails.

    `cases`: only their scenarios.
    """
    from dataclasses import replace

    try:
        _adapters.installed(chosen)
    except ConformanceError as error:
        raise Unusable(f"it cannot be installed: {error}") from None
    arguments.install = False
    planned = _adapters.plan(chosen, arguments.provider or chosen.providers[0], arguments)
    names = sorted({case.rpartition(".")[0] for case in cases})
    return replace(planned, variant=arguments.variant or "", scenarios=tuple(names) or planned.scenarios)


def runner(arguments: argparse.Namespace) -> "Callable[[RunPlan], Results]":
    """Return what runs a plan; that drivers reach the network is printed once for all of them."""
    on_network = cache(_adapters.print_network)
    return lambda planned: _adapters.run_plan(planned, arguments, on_network)[0]


def provider_name(chosen: "AdapterDefinition", provider: str) -> str:
    """Return the name of a provider on the wire of an adapter, as results have it."""
    from conformance.profiles import load_profile
    from conformance.suite.options import on_wire

    return on_wire(load_profile(provider), chosen.protocol).name


def stored(chosen: "AdapterDefinition", provider: str) -> "Results | None":
    """Return the results of the pinned release in this project, if there are any."""
    from conformance.resources import folder
    from conformance.results.files import path, read
    from conformance.results.runs import Results

    named = f"{chosen.name}@{chosen.version}"
    name = provider_name(chosen, provider)
    try:
        found = path(folder("reports") / "results" / "adapters", Results(named, "", (), name))
        return read(Path(found), []) if found.is_file() else None
    except ConformanceError:
        return None
