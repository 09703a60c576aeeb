"""What changed between two sets of results: what broke, what was mended, what appeared and what is gone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.gate import Fact, facts
from conformance.results import Results, Status


@dataclass(frozen=True, slots=True)
class Difference:
    """Facts by what became of them.

    `broke`: they passed before, or did not exist, and fail now or were not tested. `mended`: they pass again.
    `appeared`: new and passing. `gone`: they were put to the test before and are not now. Errors count as broken.
    """

    broke: tuple[Fact, ...] = ()
    mended: tuple[Fact, ...] = ()
    appeared: tuple[Fact, ...] = ()
    gone: tuple[Fact, ...] = ()

    @property
    def is_regression(self) -> bool:
        """Say whether something is worse than before: broken, or not put to the test any more."""
        return bool(self.broke or self.gone)


def difference(old: Sequence[Results], new: Sequence[Results]) -> Difference:
    """Return what changed from old results to new ones, in the order of the new ones.

    Results are compared by name: a renamed rule keeps its history, a renamed model is gone and appears again.
    """
    before, after = _by_name(old), _by_name(new)
    return Difference(
        broke=tuple([fact for name, fact in after.items() if _is_bad(fact) and not _was_bad(before.get(name))]),
        mended=tuple([fact for name, fact in after.items() if not _is_bad(fact) and _was_bad(before.get(name))]),
        appeared=tuple([fact for name, fact in after.items() if not _is_bad(fact) and name not in before]),
        gone=tuple([fact for name, fact in before.items() if name not in after]),
    )


def _by_name(many: Iterable[Results]) -> dict[str, Fact]:
    return {fact.names[0]: fact for results in many for fact in facts(results)}


def _is_bad(fact: Fact) -> bool:
    return fact.is_failure or fact.status is Status.ERRORED


def _was_bad(fact: Fact | None) -> bool:
    return fact is not None and _is_bad(fact)
