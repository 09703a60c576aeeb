"""Statistics of repeated runs: published intervals, pass^k, and when there are too few runs."""

import pytest

from conformance.reporting.matrix.reliability import Reliability, estimate, reliability, wilson
from conformance.results.runs import Runs


@pytest.mark.parametrize(
    ("passed", "played", "low", "high"),
    [
        # Newcombe, Two-sided confidence intervals for the single proportion, Stat. Med. 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_interval_matches_published_values(passed: int, played: int, low: float, high: float) -> None:
    assert (low, high) == tuple(round(each, 4) for each in wilson(passed, played))


@pytest.mark.parametrize(
    ("passed", "played", "k", "share"),
    [(8, 10, 1, 0.8), (8, 10, 2, 56 / 90), (8, 10, 4, 70 / 210), (3, 10, 4, 0.0), (10, 10, 10, 1.0)],
)
def test_pass_k_draws_without_replacement(passed: int, played: int, k: int, share: float) -> None:
    found = estimate(Runs(played, passed, played - passed, 0), k)
    assert found is not None
    assert share == pytest.approx(found.share)
    assert 0 <= found.low <= found.high <= 1


def test_fewer_conclusive_runs_than_k_give_no_estimate() -> None:
    assert estimate(Runs(9, 3, 0, 6), 4) is None
    assert estimate(Runs(9, 3, 0, 5), 4) is not None


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        (Runs(1, 1, 0, 0), Reliability.TOO_FEW),
        (Runs(15, 15, 0, 0), Reliability.TOO_FEW),
        (Runs(16, 16, 0, 0), Reliability.RELIABLE),
        (Runs(17, 16, 0, 1), Reliability.RELIABLE),
        (Runs(10, 0, 10, 0), Reliability.UNRELIABLE),
        (Runs(10, 0, 0, 10), Reliability.TOO_FEW),
        (Runs(100, 80, 20, 0), Reliability.TOO_FEW),
    ],
)
def test_runs_whose_interval_includes_the_required_share_are_too_few(runs: Runs, verdict: Reliability) -> None:
    assert verdict is reliability(runs)
