"""How reliable a model is in repeated runs: the share of passes, its interval, and whether there are enough runs."""

from dataclasses import dataclass
from enum import StrEnum
from math import comb, sqrt
from typing import Final

from conformance.results.runs import Runs

Z_95: Final = 1.959964
"""The quantile of the standard normal distribution for a 95 % interval."""

REQUIRED_SHARE: Final = 0.8
"""The share of runs that a reliable model passes at least."""

RUNS_IN_A_ROW: Final = 4
"""The k of pass^k: how many runs in a row have to pass."""


class Reliability(StrEnum):
    """Whether the interval of the share of passes is above the required share, below it, or includes it."""

    RELIABLE = "reliable"
    UNRELIABLE = "unreliable"
    TOO_FEW = "not enough runs"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The probability that `k` runs in a row pass, between 0 and 1, and its 95 % interval."""

    k: int
    share: float
    low: float
    high: float


def wilson(passed: int, played: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of passes; without runs, (0, 1).

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not played:
        return 0.0, 1.0
    share, square = passed / played, Z_95**2
    middle = share + square / (2 * played)
    half = Z_95 * sqrt(share * (1 - share) / played + square / (4 * played**2))
    whole = 1 + square / played
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def estimate(runs: Runs, k: int = RUNS_IN_A_ROW) -> Estimate | None:
    """Return pass^k of the conclusive runs; None if there are fewer than k.

    This is the unbiased estimate: the share of all subsets of k runs in which every run passes. Its interval is that of
    one run to the power of k. Source: S. Yao et al., τ-bench, arXiv:2406.12045, section 3.
    """
    if runs.conclusive < k or k < 1:
        return None
    low, high = wilson(runs.passed, runs.conclusive)
    return Estimate(k, comb(runs.passed, k) / comb(runs.conclusive, k), low**k, high**k)


def reliability(runs: Runs) -> Reliability:
    """Return whether the runs show that a model passes often enough, that it does not, or neither."""
    low, high = wilson(runs.passed, runs.conclusive)
    if low >= REQUIRED_SHARE:
        return Reliability.RELIABLE
    return Reliability.UNRELIABLE if high < REQUIRED_SHARE else Reliability.TOO_FEW


def runs_in_words(runs: Runs) -> str:
    """Return how often a case passed, with pass^k and its interval, and whether the runs are enough."""
    parts = {"ended early by the model": runs.ended, "inconclusive": runs.inconclusive}
    parts["failed"] = runs.conclusive - runs.passed - runs.ended
    counts = ", ".join(
        [f"{runs.passed} of {runs.conclusive} passed", *(f"{n} {what}" for what, n in parts.items() if n)]
    )
    shown = [each for k in (1, RUNS_IN_A_ROW) if (each := estimate(runs, k)) is not None]
    shares = "".join([f"; pass^{each.k} {each.share:.2f} (95 %: {each.low:.2f} to {each.high:.2f})" for each in shown])
    return f"{counts}{shares}; {reliability(runs).value}"
