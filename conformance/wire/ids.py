"""Ids of tool calls: the positional forms that engines use, and reproducible ids of any form."""

import hashlib
import random
from functools import lru_cache

import rstr


def positional_ids(name: str, number: int) -> tuple[str, ...]:
    """Return the ids that engines build from a function's name and a call's number, the most common form first."""
    return (f"functions.{name}:{number}", f"{name}:{number}", f"{name}_{number}")


@lru_cache(maxsize=4096)
def text_matching(pattern: str, seed: bytes) -> str:
    """Return a text that matches a regular expression; always the same text for the same seed."""
    digest = hashlib.sha256(seed).digest()
    return str(rstr.Rstr(random.Random(digest)).xeger(pattern))  # noqa: S311 — repeatable, not secret
