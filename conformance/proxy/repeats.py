"""Bodies of requests that begin as an earlier one does: an agent sends its whole history again each time.

Both ends of the pipe between the proxy and the process that checks hold the same last bodies, so that only what is new
in one has to cross it.
"""

from collections import deque
from typing import Final

from conformance.documents.growing import common_bytes

MAX_HELD_BODIES: Final = 8
MAX_HELD_BYTES: Final = 16 * 1024 * 1024
"""What one end holds: so many bodies, with so many bytes in all."""

LEAST: Final = 16 * 1024
"""A shorter body is sent whole: it costs no more."""


class RepeatedBodies:
    """The last long bodies that crossed the pipe, as one of its ends holds them."""

    def __init__(self) -> None:
        """Begin without any."""
        self._held: deque[bytes] = deque()
        self._bytes = 0

    def divide(self, body: bytes) -> tuple[int, int]:
        """Return which held body, counted from the last one, begins as this one does, and for how many bytes."""
        best = 0, 0
        for number, held in enumerate(reversed(self._held) if len(body) >= LEAST else ()):
            same = common_bytes(held, body)
            if same > max(best[1], LEAST // 2):
                best = number, same
            if same > len(held) // 2:
                # The session of this body; older ones of it have less in common.
                break
        return best

    def restore(self, number: int, same: int, rest: bytes) -> bytes:
        """Return the body that was divided so, at the other end."""
        return self._held[-1 - number][:same] + rest

    def keep(self, body: bytes) -> None:
        """Hold a body that crosses, and drop the oldest ones beyond the bounds; both ends do the same."""
        if not LEAST <= len(body) <= MAX_HELD_BYTES:
            return
        self._held.append(body)
        self._bytes += len(body)
        while len(self._held) > MAX_HELD_BODIES or self._bytes > MAX_HELD_BYTES:
            self._bytes -= len(self._held.popleft())
