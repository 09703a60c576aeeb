"""How reliable a model is that was asked again and again: a share, its interval, and whether that says anything yet."""

from dataclasses import dataclass
from enum import StrEnum
from math import comb, sqrt
from typing import Final

from conformance.results import Runs

SURE: Final = 1.959964
"""The quantile of the standard normal distribution for an interval that holds the true share 95 times of 100."""

WANTED: Final = 0.8
"""The share of runs that a reliable model passes."""

IN_A_ROW: Final = 4
"""The k of pass^k: how many runs in a row are to pass."""


class Reliability(StrEnum):
    """What the interval of the share of passes says: above what is wanted, below it, or on both sides."""

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
    """Return the 95 % interval of the share of passes; nothing played says nothing: (0, 1).

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not played:
        return 0.0, 1.0
    share, square = passed / played, SURE**2
    middle = share + square / (2 * played)
    half = SURE * sqrt(share * (1 - share) / played + square / (4 * played**2))
    whole = 1 + square / played
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def estimate(runs: Runs, k: int = IN_A_ROW) -> Estimate | None:
    """Return pass^k of the runs that say something; None where they are fewer than k.

    The estimate is the one without bias, the share of k runs out of all that pass together; its interval is that of
    one run to the power of k. Source: S. Yao et al., τ-bench, arXiv:2406.12045, section 3.
    """
    if runs.conclusive < k or k < 1:
        return None
    low, high = wilson(runs.passed, runs.conclusive)
    return Estimate(k, comb(runs.passed, k) / comb(runs.conclusive, k), low**k, high**k)


def reliability(runs: Runs) -> Reliability:
    """Return whether the runs show a model that passes as often as is wanted, one that does not, or neither."""
    low, high = wilson(runs.passed, runs.conclusive)
    if low >= WANTED:
        return Reliability.RELIABLE
    return Reliability.UNRELIABLE if high < WANTED else Reliability.TOO_FEW
