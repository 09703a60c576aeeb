"""No process and no folder outlives its command, however that ends."""

from pathlib import Path

import pytest

from tests.kill_matrix import CELLS, killed
from tests.sampling import some


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ending"), some(CELLS, 7, "-".join, mark=pytest.mark.exhaustive))
def test_a_command_that_is_ended_leaves_nothing(name: str, ending: str, tmp_path: Path) -> None:
    found = killed(name, ending, tmp_path)
    trace = found.printed.partition("Traceback")[1]
    assert (0, (), "", found.expected) == (found.orphans, found.folders, trace, found.code), found.printed
