"""What a run shows of a fault: the verdict for each variant, and the sum over a wire."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from conformance import faults
from conformance.faults import ServerFault
from conformance.suite.visible_faults import ABSENT, OWN
from tests.faults.playing import STOPPED, Played, Provider, Report, provider, through

OTHER: Final = "other"
WARNED: Final = "warned"
GREEN: Final = "green"
"""Red for another rule than the fault's own, warned, green; see also OWN and ABSENT."""

_WORST_FIRST: Final = (GREEN, WARNED, OTHER, OWN, ABSENT)


class Verdict(NamedTuple):
    """What a run shows of a fault in one variant.

    `causes`: what fails, or what is only warned of. `cases`: those that report the fault for its own reason.
    """

    verdict: str
    causes: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


class Row(NamedTuple):
    """A fault on one wire: the provider that was played, and the verdicts by variant."""

    fault: ServerFault
    provider: str
    verdicts: Mapping[str, Verdict]

    @property
    def verdict(self) -> str:
        """The worst of its verdicts; a server may have the fault in one variant only."""
        return min((each.verdict for each in self.verdicts.values()), key=_WORST_FIRST.index, default=ABSENT)


def is_own(cause: str, breaks: Sequence[str]) -> bool:
    """Return whether a cause is one of those that report a fault; the words behind a colon may be left out."""
    return any(fnmatchcase(cause, glob) or cause.partition(": ")[0] == glob for glob in breaks)


def rows(text: str, names: Sequence[str], *, whole: bool) -> Iterator[Row]:
    """Yield the named faults as played with a provider, such as `deepseek` or `openai/responses`.

    Unless `whole`, a variant is played until a case reports the fault for its own reason.
    """
    wire = provider(text).profile.wire
    for name in names:
        fault = faults.load(name)
        if wire in fault.wires:
            played = fault.at.get(wire, text)
            subject = provider(played)
            parts = [fault.variants] if fault.together else [(each,) for each in fault.variants]
            yield Row(fault, played, {"+".join(each): verdict(subject, fault, each, whole=whole) for each in parts})


def verdict(subject: Provider, fault: ServerFault, variants: Sequence[str], *, whole: bool) -> Verdict:
    """Return what a run shows of a fault in some variants."""
    breaks = fault.breaks[subject.profile.wire]

    def is_enough(report: Report) -> bool:
        return not whole and any(is_own(each, breaks) for each in report.failed)

    return judged(subject, through(subject, fault, variants, is_enough), breaks)


def judged(subject: Provider, played: Played, breaks: Sequence[str]) -> Verdict:
    """Return the verdict over the cases that were played."""
    if not played.changed:
        return Verdict(ABSENT)
    if played.stopped:
        return Verdict(OWN if is_own(STOPPED, breaks) else OTHER, (STOPPED,), tuple(played.reports))
    failed = {cause for report in played.reports.values() for cause in report.failed}
    failed |= set(subject.core(played.cases, is_red=bool(failed)))
    warned = {cause for report in played.reports.values() for cause in report.warned}
    if failed:
        cases = [name for name, each in played.reports.items() if any(is_own(cause, breaks) for cause in each.failed)]
        own = any(is_own(cause, breaks) for cause in failed)
        names = {cause.partition(": ")[0] for cause in failed}
        return Verdict(OWN if own else OTHER, tuple(sorted(names)), tuple(cases))
    return Verdict(WARNED if warned else GREEN, tuple(sorted(warned)))
