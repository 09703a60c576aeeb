"""Fixes: the smallest change of a request that makes a finding disappear, as a JSON Patch in the request's own wire.

Each family of fixers proposes other forms of the request. A form counts only if the conversation, judged again with the
same profile, lacks the finding and has no new one, and if the request still says what it said. Then everything is left
out of the change that the finding does not need. Nothing here is trusted: a proposal that is wrong is not accepted.
Findings that say the same at other positions are tried together (see `alike`).
"""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any, Final, NamedTuple

from conformance.documents.minimal import minimal
from conformance.documents.patch import Operation, apply
from conformance.documents.pointer import parse, render
from conformance.errors import ConformanceError
from conformance.fixes import fixers
from conformance.fixes.alike import move_to_all
from conformance.fixes.excerpt import excerpt, units
from conformance.fixes.needs import needed
from conformance.fixes.problem import Candidate, ClientProblem
from conformance.fixes.trial import EARLIER, ProvenPatch, Scenes, Trial
from conformance.profiles import Profile
from conformance.results import Finding
from conformance.wire.exchange import Conversation
from conformance.wire.views import Side

MAX_TRIALS: Final = 60
"""How many forms of a request are judged for one finding."""

_SHORT_SESSION: Final = 12
"""How many exchanges are judged whole if the last few do not show a finding."""

_LONG: Final = 100
"""A request with so many units takes twice the time of a short one."""

_FEW: Final = 8
"""Of how many operations each is tried alone."""

_MAX_RULES: Final = 512
"""Of how many rules is kept who helps with what they find."""

_CLIENT: Final = Side.CLIENT.value


@dataclass(frozen=True, slots=True)
class Fix:
    """What to do about a finding.

    `patch`: operations of JSON Patch (RFC 6902) on the request's own body, in order; empty if there is no fix that
    loses nothing. `title`: what they do. `origin`: a pointer to the value in the conversation that they bring back,
    empty if there is none. `needs`: without a patch, what only the client knows. `trials`: how often was judged; a long
    request counts several times.
    """

    patch: tuple[Operation, ...]
    title: str = ""
    origin: str = ""
    needs: str = ""
    trials: int = 0

    def to_json(self, at: str) -> dict[str, Any]:
        """Return the fix as the JSON object of reports; `at` is the pointer to the request."""
        shown: dict[str, Any] = {"at": at, "title": self.title, "patch": list(self.patch)}
        return shown | ({"from": self.origin} if self.origin else {})


def fix(
    conversation: Conversation,
    rule: str,
    finding: Finding,
    profile: Profile | None,
    as_of: str = "",
    seen: int | None = None,
    scenes: Scenes | None = None,
) -> Fix | None:
    """Return the fix of a finding about a client; None for one about a provider, or about no request.

    `conversation`: the exchanges as they were received, not translated. `as_of` as for `check`. `seen`: the number of
    an earlier exchange whose request has the same finding, so that what it needs to know stands before that one.
    `scenes`: what was found for other findings about this very conversation and profile; without it, none is fixed
    together with others.
    """
    place = parse(finding.at)
    if finding.side != _CLIENT or place[1:2] != ("request",):
        return None
    number = int(place[0])
    starts = [max(0, (number if seen is None else seen) - EARLIER)]
    # The whole session is judged only if that is little: this is done for each finding.
    starts += [0] if starts[0] and seen is None and number <= _SHORT_SESSION else []
    known = Scenes(for_one=True) if scenes is None else scenes
    for start in starts:
        end = number if seen is None else seen
        moved = replace(finding, at=render((end - start, *place[1:])))
        exchanges = (*conversation[start:end], conversation[number])
        found = _fix_in(_Window((start, end, number), exchanges, profile, as_of, known), rule, moved)
        if found is not None:
            return replace(found, origin=_moved(found.origin, start)) if found.origin else found
    return Fix((), needs=needed(rule), trials=len(starts))


class _Window(NamedTuple):
    """Some exchanges of a conversation, numbered by `key`, by what they are judged, and what was found of them."""

    key: tuple[int, ...]
    exchanges: Conversation
    profile: Profile | None
    as_of: str
    scenes: Scenes

    def trial(self, key: tuple[int, ...], exchanges: Conversation, rule: str, finding: Finding) -> Trial:
        """Return the trial of a finding in these exchanges, or in an excerpt of them."""
        return Trial(self.scenes.of((self.key, key), exchanges, self.profile, self.as_of), rule, finding)

    def proven(self, rule: str, finding: Finding) -> ProvenPatch | None:
        """Return what fixes a finding if it was fixed together with others in all these exchanges; None if not."""
        return self.scenes.proven((self.key, ()), rule, finding)


def _fix_in(window: _Window, rule: str, finding: Finding) -> Fix | None:
    """Return the fix of a finding about the last of some exchanges, None if they do not show the finding."""
    exchanges = window.exchanges
    if (known := window.proven(rule, finding)) is not None:
        return Fix(tuple(known.patch), known.candidate.title)
    position = next((int(each) for each in parse(finding.at)[3:4] if each.isdecimal()), None)
    short = excerpt(exchanges, position)
    moved = short.finding(finding)
    if short.missing and moved is not None:
        trial = window.trial((short.start, short.missing), short.conversation, rule, moved)
        if trial.sees_the_finding:
            found = _fix(trial)
            patch = short.patch(found.patch)
            if patch is not None:
                return replace(found, patch=patch, trials=found.trials * _weight(short.conversation))
    trial = window.trial((), exchanges, rule, finding)
    if not trial.sees_the_finding:
        return None
    found = _fix(trial)
    return replace(found, trials=found.trials * _weight(exchanges))


def _weight(exchanges: Conversation) -> int:
    """Return as how many forms one of these exchanges counts, so that what is tried is bounded by its cost."""
    return 1 + max([len(each) for each in units(exchanges)[1]], default=0) // _LONG


def _moved(pointer: str, by: int) -> str:
    """Return a pointer into a conversation as one into another that begins earlier or later."""
    number, *rest = parse(pointer)
    return render((int(number) + by, *rest))


def _fix(trial: Trial) -> Fix:
    """Return the fix for a finding on trial."""
    if trial.moved is not None:
        return Fix(tuple(trial.moved.patch), trial.moved.candidate.title)
    found = _search(trial)
    if found is None:
        return Fix((), needs=needed(trial.problem.rule), trials=trial.tried)
    move_to_all(trial, found, _search)
    return Fix(tuple(found.patch), found.candidate.title, found.candidate.origin, trials=trial.tried)


def _search(trial: Trial) -> ProvenPatch | None:
    """Return the patch for a finding on trial, and the candidate that it is a part of; None if there is none."""
    problem = trial.problem
    for candidate in _candidates(problem):
        operations = trial.operations(candidate)
        for chosen in (operations,) if candidate.whole else _nearest(operations, problem):
            if trial.tried >= MAX_TRIALS:
                return None
            if _holds(chosen, candidate, trial):
                holds = partial(_holds, candidate=candidate, trial=trial)
                return ProvenPatch(chosen if candidate.whole else minimal(chosen, holds), candidate)
    return None


def _holds(chosen: Sequence[Operation], candidate: Candidate, trial: Trial) -> bool:
    """Return whether some of the operations that lead to a candidate are enough."""
    if not chosen or trial.tried >= MAX_TRIALS:
        return False
    try:
        request = apply(trial.problem.request, chosen)
    except (LookupError, ValueError):
        return False
    return trial.accepts(candidate._replace(request=request))


def _nearest(operations: Sequence[Operation], problem: ClientProblem) -> Iterator[Sequence[Operation]]:
    """Yield the operations at the place of the finding, then those around it, then all."""
    count = 0
    for end in range(len(problem.place), 0, -1):
        at = render(problem.place[:end])
        near = [each for each in operations if each["path"] == at or each["path"].startswith(f"{at}/")]
        if len(near) > count:
            yield near
            count = len(near)
    if len(operations) > count:
        yield operations
    # All together may do too much, such as bring back a key that only replies have.
    if 1 < len(operations) <= _FEW:
        for each in operations:
            yield [each]


def _candidates(problem: ClientProblem) -> Iterator[Candidate]:
    for module in _fixers_of(problem.rule):
        try:
            yield from module.candidates(problem)
        except (LookupError, TypeError, ValueError, AttributeError, ConformanceError):
            # A body that is not shaped as its wire has it is beyond this family, not beyond the next one.
            continue


@lru_cache(maxsize=_MAX_RULES)
def _fixers_of(rule: str) -> tuple[ModuleType, ...]:
    """Return the families of fixers that may help with what a rule finds, in their order."""
    return tuple([module for module in _fixers() if any(fnmatchcase(rule, glob) for glob in module.RULES)])


@cache
def _fixers() -> tuple[ModuleType, ...]:
    """Return the families of fixers, in the order in which they are asked."""
    names = [module.name for module in pkgutil.iter_modules(fixers.__path__)]
    modules = [importlib.import_module(f"{fixers.__name__}.{name}") for name in names]
    return tuple(sorted(modules, key=lambda module: module.ORDER))
