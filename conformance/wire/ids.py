"""Ids of tool calls: the positional forms that engines use, and reproducible ids of any form."""

import re
from typing import Final

from conformance.caches import remembered

_OF_PLACE: Final = re.compile(r"turn-\d+\.\d+")
_MAX_TEXTS: Final = 2 * 1024 * 1024


def id_of_place(turn: int, number: int) -> str:
    """Return the id of a call that has none on its wire: by the number of the model's turn, and of the call in it."""
    return f"turn-{turn}.{number}"


def is_of_place(identity: str) -> bool:
    """Return whether an id only says where its call stands."""
    return _OF_PLACE.fullmatch(identity) is not None


def positional_ids(name: str, number: int) -> tuple[str, ...]:
    """Return the ids that engines build from a function's name and a call's number, the most common form first."""
    return (f"functions.{name}:{number}", f"{name}:{number}", f"{name}_{number}")


# A seed is a whole conversation, and a short pattern can ask for megabytes of text.
@remembered(_MAX_TEXTS, len)
def text_matching(pattern: str, seed: bytes) -> str:
    """Return a text that matches a regular expression; always the same text for the same seed."""
    # Imported here because the rules need none of it, and every start would pay for it.
    import hashlib
    import random

    import rstr

    digest = hashlib.sha256(seed).digest()
    return str(rstr.Rstr(random.Random(digest)).xeger(pattern))  # noqa: S311 — repeatable, not secret
