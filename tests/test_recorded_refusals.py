"""Recorded exchanges that were answered although a claim says that their requests are refused."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance.evidence.calibration import Failure, calibrate
from conformance.evidence.compared import Comparison
from conformance.formats import read_path

pytestmark = pytest.mark.slow

EXPLAINED: Final[Mapping[str, str]] = {
    "8329879b6a22": (
        "edited after it was recorded: the reply repeats the tools of its request, and theirs are not strict and have "
        "another description"
    ),
    "9c8da6418a63": "a reply of Responses that was stored in place of the request",
}
"""Why the request of a recording, by its digest, is not what the host answered."""


ONE_IN = 12
"""CI compares one in so many recordings, and the nightly run all."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(ONE_IN, id="sample"), pytest.param(1, id="all", marks=pytest.mark.exhaustive)],
)
def refused(shared: Path, request: pytest.FixtureRequest) -> list[Failure]:
    """Return the recorded requests that were answered, and that our claims call refused."""
    recordings, one_in = shared / "recordings", request.param
    if one_in == 1:
        found = calibrate([str(recordings)], jobs=2)
    else:
        read = [given for path in sorted(recordings.glob("*.jsonl.gz")) for given in read_path(path)]
        assert len(read) > one_in
        found = calibrate([str(recordings / "original")], recordings=read[::one_in])
    return [each for each in found.failures() if each.kind == Comparison.FALSE_POSITIVE.value]


def described(failures: list[Failure]) -> Iterator[str]:
    for each in failures:
        if each.digest not in EXPLAINED:
            yield f"{each.ref} at {each.at}: {each.claims} of {each.provider} (by {each.rule}): {each.message}"


def test_no_claim_refuses_what_a_host_is_recorded_to_answer(refused: list[Failure]) -> None:
    assert [] == list(described(refused))


@pytest.mark.exhaustive
def test_every_explanation_is_of_a_request_that_is_called_refused(
    refused: list[Failure], request: pytest.FixtureRequest
) -> None:
    found = {each.digest for each in refused}
    # A sample need not hold them.
    assert found <= EXPLAINED.keys() if "[sample]" in request.node.name else found == EXPLAINED.keys()
