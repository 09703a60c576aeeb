"""The fixture of the suites: the case of an item, played when the first item needs it."""

from typing import Final

import pytest

from conformance.errors import Unusable
from conformance.results.runs import Case
from conformance.suite.pytest_config import RUN, SAFE, case_of

_FIRST: Final = "test_scenario_is_played_to_its_end"
"""The test that fails for a case that cannot be replayed; the others follow from it."""


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """Return the results of the item's case; a case without any is skipped with its reason."""
    scenario, variant = request.param
    run = request.config.stash[RUN]
    try:
        played = run.case(scenario, variant)
    except Unusable as error:
        pytest.exit(request.config.stash[SAFE](str(error)), returncode=2)
    if played.is_unreadable and request.function.__name__ != _FIRST:
        pytest.skip(f"follows from: {played.note}")
    if not played.outcomes and not played.is_unreadable:
        pytest.skip(played.note)
    return played


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the items of one case together, so that the progress bar follows the cases."""
    items.sort(key=_case_name)


def _case_name(item: pytest.Item) -> str:
    case = case_of(item)
    return f"{case[0].name}.{case[1]}" if case is not None else ""
