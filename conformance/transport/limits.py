"""How long a live run and its requests may take, in seconds; commands show these without loading an HTTP client."""

from typing import Final

REQUEST_TIMEOUT: Final = 120.0
"""Seconds from a request to the last byte of its reply."""

MAX_TIME: Final = 7200.0
"""Seconds of a whole live run. One of some 250 requests takes a quarter of that with 7 seconds for each reply."""

MAX_TIMEOUTS: Final = 3
"""After so many timeouts in a row, a run sends nothing more."""
