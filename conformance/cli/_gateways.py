"""What the actions of `conformance gateway` share: arguments, a run, and how a case is shown while it runs."""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.errors import Unusable
from conformance.terminal import ProgressLine, print_error

if TYPE_CHECKING:
    from conformance.gateways.definition import GatewayDefinition
    from conformance.gateways.plans import GatewayPlan, GatewayRun, OnCase
    from conformance.gateways.runs import CaseResult


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for other definitions of gateways."""
    parser.add_argument("--gateways", metavar="DIR", default="", help="use the gateway definitions in DIR")


def folder(arguments: argparse.Namespace) -> Path:
    """Return the folder that --gateways names, by default that of this project."""
    from conformance.gateways.definition import FOLDER

    return Path(arguments.gateways) if arguments.gateways else FOLDER


def cache() -> Path:
    """Return the folder of the environments of gateways."""
    from conformance.artifacts import cache_root
    from conformance.gateways.serving import KIND

    return cache_root(KIND)


def today() -> str:
    """Return the day of a run."""
    return datetime.now(UTC).date().isoformat()


def plan(name: str, front: str, back: str, only: Sequence[str], model: str = "") -> "GatewayPlan":
    """Return the plan of a run."""
    from conformance.gateways.plans import GatewayPlan

    return GatewayPlan(name, front, back, model, tuple(only), today())


def run_shipped(definition: "GatewayDefinition", chosen: "GatewayPlan", *, install: bool) -> "GatewayRun":
    """Run a gateway of this project; raises Unusable if it is not installed and is not to be installed."""
    from conformance.gateways import plans
    from conformance.gateways.serving import is_installed

    if not install and not is_installed(definition, cache()):
        raise Unusable(f"{definition.name}@{definition.version} is not installed; add --install")

    def log(text: str) -> None:
        print_error(f"{definition.name}@{definition.version}: {text}")

    return plans.run_shipped(definition, chosen, cache(), log, on_case(ProgressLine()))


def on_case(progress: ProgressLine) -> "OnCase":
    """Return what shows the progress of a run."""

    def show(result: "CaseResult", done: int, total: int) -> None:
        progress.show(f"{done} of {total}: {result.case.name}")
        if done == total:
            progress.clear()

    return show
