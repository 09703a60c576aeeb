"""Ids of tool calls: the positional forms that engines use, and reproducible ids of any form."""

import re
import string
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.caches import remembered
from conformance.wire.lazy import lazy

if TYPE_CHECKING:
    from random import Random

Maker: TypeAlias = "Callable[[Random], str]"
"""Makes a part of a text by some draws."""

_OF_PLACE: Final = re.compile(r"turn-\d+\.\d+")
_MAX_TEXTS: Final = 2 * 1024 * 1024
_MAX_PATTERN: Final = 256
_MAX_CLASS: Final = 255


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

    import rstr

    drawn, makers = _GENERATOR.drawn, _makers(pattern)
    drawn.seed(hashlib.sha256(seed).digest())
    return str(rstr.Rstr(drawn).xeger(pattern)) if makers is None else "".join([make(drawn) for make in makers])


class _Generator(threading.local):
    """A generator for each thread, which is seeded for each text: making one takes longer than a text."""

    @lazy
    def drawn(self) -> "Random":
        """Return the generator of this thread."""
        import random

        return random.Random(0)  # noqa: S311 — repeatable, not secret


_GENERATOR: Final = _Generator()


@lru_cache(maxsize=256)
def _makers(pattern: str) -> "tuple[Maker, ...] | None":
    """Return what makes the parts of a text by the draws of `rstr`; None for a pattern that is left to it."""
    from importlib import import_module

    xeger = import_module("rstr.xeger")

    return _of_states(xeger.sre_parse.parse(pattern), xeger.STAR_PLUS_LIMIT) if len(pattern) <= _MAX_PATTERN else None


def _of_states(states: Any, most: int) -> "tuple[Maker, ...] | None":
    found: list[Maker] = []
    for opcode, value in states:
        kind = opcode.name.lower()
        made: Maker | None = None
        if kind == "literal":
            made = partial(_constant, chr(value))
        elif kind == "at":
            made = partial(_constant, "")
        elif kind == "in" and (characters := _characters(value)):
            made = partial(_drawn, characters, 1)
        elif kind in ("max_repeat", "min_repeat"):
            made = _repeated(value, most)
        elif kind == "subpattern" and (inside := _of_states(value[-1], most)) is not None:
            made = partial(_joined, inside, None)
        if made is None:
            return None
        found.append(made)
    return tuple(found)


def _repeated(value: tuple[int, int, Any], most: int) -> "Maker | None":
    least, greatest, states = value[0], min(value[1], most), value[2]
    only = states[0] if len(states) == 1 else (None, None)
    if only[0] is not None and only[0].name == "IN" and (characters := _characters(only[1])):
        return partial(_counted, characters, least, greatest)
    inside = _of_states(states, most)
    return None if inside is None else partial(_joined, inside, (least, greatest))


def _characters(states: Any) -> str:
    """Return the characters of a class in the order in which they are drawn from; empty for one that is left out.

    Classes of other characters than those of Latin-1, and of more than 255, are left out.
    """
    found = ""
    for opcode, value in states:
        kind = opcode.name
        if kind == "LITERAL":
            found += chr(value)
        elif kind == "RANGE":
            found += "".join([chr(each) for each in range(value[0], value[1] + 1)])
        elif kind == "CATEGORY" and value.name == "CATEGORY_DIGIT":
            found += string.digits
        else:
            return ""
    return found if len(found) <= _MAX_CLASS and all([ord(each) <= _MAX_CLASS for each in found]) else ""


def _constant(text: str, _random: "Random") -> str:
    return text


def _counted(characters: str, least: int, greatest: int, drawn: "Random") -> str:
    return _drawn(characters, drawn.randint(least, greatest), drawn)


def _drawn(characters: str, times: int, drawn: "Random") -> str:
    """Return so many characters, each as `random.choice` draws it."""
    table, rejected = _bytes_drawn(characters)
    made, missing = b"", times
    while missing:
        # One word of the generator for each character, and never more: the draws that follow would be others.
        words = drawn.getrandbits(32 * missing).to_bytes(4 * missing, "little")
        made += words[3::4].translate(table, rejected)
        missing = times - len(made)
    return made.decode("latin-1")


@lru_cache(maxsize=256)
def _bytes_drawn(characters: str) -> tuple[bytes, bytes]:
    """Return the character that each highest byte of a word of the generator stands for, and the bytes for none."""
    bits = len(characters).bit_length()
    numbers = [byte >> (8 - bits) for byte in range(256)]
    encoded = characters.encode("latin-1")
    table = bytes([encoded[number] if number < len(encoded) else 0 for number in numbers])
    return table, bytes([byte for byte, number in enumerate(numbers) if number >= len(encoded)])


def _joined(makers: "tuple[Maker, ...]", bounds: tuple[int, int] | None, drawn: "Random") -> str:
    """Return a group once, or as often as is drawn between two bounds."""
    times = 1 if bounds is None else drawn.randint(*bounds)
    return "".join([make(drawn) for _ in range(times) for make in makers])
