"""List what changed in the provider files of SDKs since the releases that claims cite.

The archives of both releases come from the registries that pip and npm are configured to use; nothing is installed. A
changed line is a candidate for a claim if it speaks of what claims are about, such as reasoning, tools or refusals. The
workflow `release-watch` writes the list each week.
"""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance import artifacts
from conformance.cli import _recordings
from conformance.errors import Unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.evidence.packages.candidates import CitedPackage

EXAMPLES: Final = """\
  conformance evidence candidates
  conformance evidence candidates --package litellm
  conformance evidence candidates --write reports/candidates.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--package", action="append", default=[], metavar="NAME", help="only this package; repeatable (default: all)")
    add("--write", type=Path, metavar="FILE", help="write the list to FILE instead of standard output")


def run(arguments: argparse.Namespace) -> int:
    """Print or write the list; return 0, because a change of an SDK is no fault of this project."""
    from conformance.evidence.packages.candidates import candidates
    from conformance.reporting.renderers.candidates import render

    cited = [each for each in _cited() if not arguments.package or each.name in arguments.package]
    if not cited:
        raise Unusable("no claim cites a file of such a package")
    with ExitStack() as stack:
        found = list(candidates(cited, _recordings.archives(stack)))
    text = "".join(render(found))
    if arguments.write is None:
        print(text, end="")
    else:
        artifacts.write(arguments.write, text)
        print(f"wrote {arguments.write}: {sum(len(each.changes) for each in found):,} lines of {len(found)} packages")
    if all(each.problem for each in found):
        raise Unusable("nothing was compared: no release could be read")
    return 0


def _cited() -> "Iterator[CitedPackage]":
    """Yield each package that claims in force cite, in its newest cited release."""
    from packaging.version import Version

    from conformance import profiles
    from conformance.evidence.cited import citations
    from conformance.evidence.packages.candidates import CitedPackage

    releases: dict[tuple[str, str], set[str]] = {}
    paths: dict[tuple[str, str], set[str]] = {}
    for name in profiles.names():
        for citation in citations.of_profile(profiles.load(name)):
            for source in citation.sources if citation.is_in_force else ():
                file = source.file
                if source.package and file is not None:
                    key = file.registry, file.name
                    releases.setdefault(key, set()).update(file.versions)
                    paths.setdefault(key, set()).add(file.path)
    for registry, name in sorted(releases):
        newest = max(releases[registry, name], key=Version)
        yield CitedPackage(registry, name, newest, tuple(sorted(paths[registry, name])))
