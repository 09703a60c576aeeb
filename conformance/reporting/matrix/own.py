"""A user's own results beside those of this project: endpoints and adapters that it does not know."""

from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from conformance import baseline, profiles, scenarios
from conformance.adapters import loop
from conformance.baseline import Entry
from conformance.errors import UnknownName, Unusable
from conformance.profiles import Profile
from conformance.reporting.matrix.table import Inputs
from conformance.results.files import read_with_paths
from conformance.results.runs import Results
from conformance.rules import Rule

EXPECTED = "expected-failures.yaml"
"""The file with the expected failures beside a user's own results, if there is one."""


class Own(NamedTuple):
    """A user's own results, with the profiles of the user's own by name and the expected failures."""

    results: Sequence[Results]
    profiles: Mapping[str, Profile]
    entries: Sequence[Entry]


def read_own(
    given: Path,
    own_profiles: Sequence[Path] = (),
    expected: Path | None = None,
    accepted: MutableSequence[str] | None = None,
) -> Own:
    """Return a user's own results in a file or folder; those in its folder `results` if there is one.

    `own_profiles` are the files of profiles that this project does not have. Raises Unusable if there are no results,
    or if they name a profile, rule or scenario that is not known; and for results that do not prove a whole run, as
    `conformance.results.files.read` does, which explains `accepted`.
    """
    mine = named_profiles(own_profiles)
    root = given / "results" if (given / "results").is_dir() else given
    results = [_own(path, each, mine) for path, each in read_with_paths([root], accepted)]
    beside = given / EXPECTED
    file = expected or (beside if beside.is_file() else None)
    return Own(results, mine, baseline.load(file) if file else ())


def named_profiles(files: Sequence[Path]) -> Mapping[str, Profile]:
    """Return the profiles in some files by their names, each with those of its other wires."""
    return {wire.name: wire for each in map(profiles.read, files) for wire in (each, *each.protocols.values())}


def with_own(shipped: Inputs, own: Own) -> Inputs:
    """Return the inputs of the reports with a user's own results beside them."""
    named = {each.profile for each in own.results} - shipped.profiles.keys()
    loaded = {name: own.profiles[name] if name in own.profiles else profiles.load(name) for name in named}
    return replace(
        shipped,
        results=[*shipped.results, *own.results],
        profiles={**shipped.profiles, **loaded},
        own_profiles=own.profiles,
        own_entries=own.entries,
    )


def only_own(inputs: Inputs) -> Inputs:
    """Return the inputs with the user's own results and the providers that they were checked against."""
    named = {each.profile for each in inputs.results if each.mine}
    return replace(
        inputs,
        results=[each for each in inputs.results if each.mine or (each.profile in named and not each.provider)],
        profiles={name: each for name, each in inputs.profiles.items() if name in named},
        calibration={name: each for name, each in inputs.calibration.items() if name in named},
    )


def _own(path: Path, results: Results, own_profiles: Mapping[str, Profile]) -> Results:
    """Return the results in a file as the user's own; raises Unusable if something in them is not known here."""
    known: Mapping[str, Rule | loop.Fact] = loop.with_rules()
    try:
        if results.profile not in own_profiles:
            profiles.load(results.profile)
        for case in results.cases:
            for outcome in case.outcomes:
                if outcome.rule not in known:
                    raise UnknownName("rule", outcome.rule, known)
            if case.probes:
                scenarios.load(case.scenario)
    except UnknownName as error:
        message = (
            f"{path}: {error}; a profile of your own is named with --provider FILE, and results of another version of "
            "conformance have to be made again"
        )
        raise Unusable(message) from None
    return replace(results, mine=True)
