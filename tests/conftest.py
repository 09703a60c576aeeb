"""What the tests share: the folder of real recordings, where it lies beside the checkout."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("NOT RUN: the recordings of ../shared are absent, so nothing here was measured on real traffic")
    return SHARED
