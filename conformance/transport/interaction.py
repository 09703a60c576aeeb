"""One request and its reply as a recorder keeps them: bytes, before anything is read out of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Headers in their order; a name may come several times."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """A request that was sent and the reply that came, whose body is unpacked and within the bounds of the client."""

    url: str
    sent_headers: Headers
    sent: bytes
    status: int
    reason: str
    headers: Headers
    content: bytes


Keep: TypeAlias = Callable[[Interaction], None]
"""What keeps an interaction, such as a recorder."""
