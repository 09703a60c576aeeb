"""What the tests share: the folder of real recordings, where it lies beside the checkout."""

from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

# The same examples in every run, and no clock: these machines are noisy.
settings.register_profile("project", deadline=None, derandomize=True, database=None)
settings.load_profile("project")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("NOT RUN: the recordings of ../shared are absent, so nothing here was measured on real traffic")
    return SHARED
