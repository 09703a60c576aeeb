"""Whole requests in results, which show what a client breaks."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A whole request that a client sent: the index of its exchange in the session, the path of its URL, its body."""

    exchange: int
    path: str
    body: Any
