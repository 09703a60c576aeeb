"""What the actions of `conformance report statement` share."""

import argparse
import importlib.metadata
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from conformance.arguments import add_partial
from conformance.reporting import statement
from conformance.reporting.matrix.own import named_profiles
from conformance.results.files import read_with_paths

_PROVIDER: Final = "the profile of your own that results were checked against; repeatable"


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add the arguments about results, which `made` reads."""
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="RESULTS", help="results files, or folders of them")
    add("--provider", action="append", default=[], type=Path, metavar="FILE", help=_PROVIDER)
    add_partial(parser)


def made(arguments: argparse.Namespace, about: Mapping[str, str]) -> dict[str, Any]:
    """Return the statement about the results, which says what --partial accepted."""
    found = read_with_paths(arguments.paths, arguments.partial)
    shown = statement.make(found, named_profiles(arguments.provider), about)
    if not arguments.partial:
        return shown
    # The folder is of this machine; the statement is for others.
    names = {str(path): path.name for path, _ in found}
    lines = [each.replace(path, name) for each in arguments.partial for path, name in names.items() if path in each]
    return {**shown, "partial": lines}


def today() -> str:
    """Return the date of today in UTC."""
    return datetime.now(UTC).date().isoformat()


def version() -> str:
    """Return the version of this package; `unknown` if it is not installed."""
    try:
        return importlib.metadata.version("wire-conformance")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
