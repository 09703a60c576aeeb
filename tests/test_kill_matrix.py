"""No process outlives its command, however that ends."""

from pathlib import Path

import pytest

from tests.kill_matrix import CELLS, killed
from tests.sampling import some


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ending"), some(CELLS, 7, "-".join, mark=pytest.mark.exhaustive))
def test_a_command_that_is_ended_leaves_no_process(name: str, ending: str, tmp_path: Path) -> None:
    found = killed(name, ending, tmp_path)
    assert (0, "") == (found.orphans, found.printed[found.printed.find("Traceback") :] * ("Traceback" in found.printed))
