"""What the actions of `conformance report statement` share."""

import argparse
import importlib.metadata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from conformance.arguments import add_partial
from conformance.reporting import statement
from conformance.reporting.matrix.own import named_profiles
from conformance.results.runs import Results

_PROVIDER: Final = "the profile of your own that results were checked against; repeatable"

Found = Sequence[tuple[Path, Results]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options about results, which `made` reads."""
    parser.add_argument("--provider", action="append", default=[], type=Path, metavar="FILE", help=_PROVIDER)
    add_partial(parser)


def made(found: Found, arguments: argparse.Namespace, about: Mapping[str, str]) -> dict[str, Any]:
    """Return the statement about results with their files, which says what --partial accepted."""
    shown = dict(about)
    if arguments.partial:
        # The folder is of this machine; the statement is for others.
        names = {str(path): path.name for path, _ in found}
        accepted = [
            each.replace(path, name, 1)
            for each in arguments.partial
            for path, name in names.items()
            if each.startswith(f"{path} ")
        ]
        return statement.make(found, named_profiles(arguments.provider), {**shown, "partial": accepted})
    return statement.make(found, named_profiles(arguments.provider), shown)


def today() -> str:
    """Return the date of today in UTC."""
    return datetime.now(UTC).date().isoformat()


def version() -> str:
    """Return the version of this package; `unknown` if it is not installed."""
    try:
        return importlib.metadata.version("wire-conformance")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
