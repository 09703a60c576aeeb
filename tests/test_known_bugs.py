"""The bugs that docs/known-bugs.md lists: stored results show each in the release that has it, and in no fixed one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance import rules
from conformance.adapters import definition, install
from conformance.cli import main
from conformance.resources import folder
from conformance.results import Status
from conformance.results.files import path, read
from conformance.results.runs import Results
from conformance.wire.native import CHAT
from tests.checking import ROOT
from tests.loops import every

PAGE = ROOT / "docs/known-bugs.md"
RESULTS = folder("reports") / "results"
LINK = re.compile(r"\[[^]]+\]\(https://github\.com/[^/)]+/[^/)]+/(?:issues|pull)/\d+\)")
FEWEST = 35


@dataclass(frozen=True, slots=True)
class Bug:
    """A line of the page; `fixed` is empty if no release is free of the bug."""

    issue: str
    release: str
    case: str
    rule: str
    fixed: str = ""

    @property
    def releases(self) -> dict[str, Status]:
        """Return the releases that the line names, with the status that the rule has in their results."""
        free = {f"{self.release.partition('@')[0]}@{self.fixed}": Status.PASSED} if self.fixed else {}
        return {self.release: Status.FAILED, **free}


def bugs() -> list[Bug]:
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    kept = [row for row in rows if not {row[0], row[1]} & {"bug", "---"}]
    return [Bug(row[1], *[cell.strip("`") for cell in row[2:]]) for row in kept]


def stored(release: str) -> Results:
    """Return the results of a release, those of the pinned one from among those of all adapters."""
    known = definition.load(release.partition("@")[0])
    provider = f"{known.providers[0]}.{known.protocol}" if known.protocol != CHAT else known.providers[0]
    where = "adapters" if release == f"{known.name}@{known.version}" else "releases"
    # A case shows a bug, so that results of a part of the tests are welcome.
    return read(path(RESULTS / where, Results(release, "", (), provider)), [])


def status(results: Results, bug: Bug) -> Status:
    (case,) = [case for case in results.cases if case.name == bug.case]
    return next((each.status for each in case.outcomes if each.rule == bug.rule), Status.NOT_APPLICABLE)


def runs() -> Iterator[Any]:
    for bug in bugs():
        for release, expected in bug.releases.items():
            yield pytest.param(bug, release, expected, id=f"{release}-{bug.case}")


def test_there_are_enough_bugs_and_each_is_listed_once() -> None:
    listed = bugs()
    assert FEWEST <= len(listed) == len({(bug.release, bug.case, bug.rule) for bug in listed})
    assert {rule.id for rule in rules.load()} >= {bug.rule for bug in listed if not bug.rule.startswith("loop/")}


@every("bug", bugs(), ids=lambda bug: bug.release)
def test_each_bug_has_an_address_and_the_open_ones_are_in_the_pinned_release(bug: Bug) -> None:
    assert LINK.fullmatch(bug.issue)
    name, _, version = bug.release.partition("@")
    assert (not bug.fixed) == (definition.load(name).version == version)


@every(("bug", "release", "expected"), list(runs()))
def test_stored_results_show_the_bug_where_it_is(bug: Bug, release: str, expected: Status) -> None:
    assert expected is status(stored(release), bug)


def test_no_results_of_releases_are_left_over() -> None:
    named = {release for bug in bugs() for release in bug.releases}
    assert {read(each, []).subject for each in (RESULTS / "releases").glob("*.json")} <= named


@pytest.mark.exhaustive
@pytest.mark.parametrize(("bug", "release", "expected"), list(runs()))
def test_a_run_shows_the_bug_where_it_is(bug: Bug, release: str, expected: Status, tmp_path: Path) -> None:
    if not install.is_installed(definition.load(release)):
        pytest.skip(f"NOT RUN: conformance adapter install {release}")
    scenario, _, variant = bug.case.rpartition(".")
    only = ["--scenario", scenario, "--variant", variant, "--jobs", "1"]
    assert main(["adapter", "run", release, *only, "--results", str(tmp_path)]) in (0, 1)
    (written,) = tmp_path.glob("*.json")
    assert expected is status(read(written, []), bug)
