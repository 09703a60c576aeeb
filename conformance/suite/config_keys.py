"""Where a pytest run keeps its provider run; apart, so that the plugin can look without loading the harness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.suite.run import Run

RUN: pytest.StashKey[Run] = pytest.StashKey()

CHOSEN: pytest.StashKey[bool] = pytest.StashKey()
"""Whether some items were deselected."""
