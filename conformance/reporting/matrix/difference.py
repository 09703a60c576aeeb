"""The differences between two sets of results, which reports show and a gate may fail on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.gate import CheckResult, check_results
from conformance.results.runs import Results


@dataclass(frozen=True, slots=True)
class ResultsDifference:
    """Check results by how they changed.

    `broken`: they fail or are untested now, and did not before or did not exist. `fixed`: they no longer fail. `added`:
    new and passing. `removed`: only the old results have them. Errors count as failures.
    """

    broken: tuple[CheckResult, ...] = ()
    fixed: tuple[CheckResult, ...] = ()
    added: tuple[CheckResult, ...] = ()
    removed: tuple[CheckResult, ...] = ()

    @property
    def is_regression(self) -> bool:
        """Return True if something is worse than before: it fails, or is no longer tested."""
        return bool(self.broken or self.removed)


def difference(old: Sequence[Results], new: Sequence[Results]) -> ResultsDifference:
    """Return what changed from old results to new ones, in the order of the new ones.

    Results are compared by name: a renamed rule keeps its history, while a renamed model is removed and added.
    """
    before, after = _by_name(old), _by_name(new)
    failed = {name for name, result in before.items() if result.is_bad}
    return ResultsDifference(
        broken=tuple([result for name, result in after.items() if result.is_bad and name not in failed]),
        fixed=tuple([result for name, result in after.items() if not result.is_bad and name in failed]),
        added=tuple([result for name, result in after.items() if not result.is_bad and name not in before]),
        removed=tuple([result for name, result in before.items() if name not in after]),
    )


def _by_name(many: Iterable[Results]) -> dict[str, CheckResult]:
    return {result.names[0]: result for results in many for result in check_results(results)}
