"""Files of lines in a folder that hold something else: skipped as a whole, instead of an error for each line."""

from collections.abc import Iterator
from typing import Final

from conformance.errors import Unrecognized
from conformance.formats import Input

_HELD: Final = 1_000
"""How many lines are read before a file counts as one with errors."""


def related(inputs: Iterator[Input]) -> Iterator[Input]:
    """Yield the inputs of a file that was found in a folder.

    Raises Unrecognized if it holds lines of something else, and nothing that is recognized among the first of them.
    """
    held: list[Input] = []
    for given in inputs:
        if not isinstance(given.problem, Unrecognized) or len(held) == _HELD:
            yield from held
            yield given
            yield from inputs
            return
        held.append(given)
    if held and held[0].problem is not None:
        raise held[0].problem
