"""How the cost of checking grows with the input: the exponent by bytes of each shape.

    python -m tests.benchmarks.growth [SHAPE…]

Histories grow in so many requests, each of which repeats it: their exponent is that by the bytes that are new. Each
shape is measured at a size that takes 20 ms or more, and at 8 times that size. Exit code 1 if an exponent exceeds 1.25.
"""

import argparse
import gc
import math
import time
from typing import Final

from conformance import profiles
from conformance.judge import check
from tests.benchmarks.shapes import SHAPES, Shape, new_size, size

BOUND: Final = 1.25
FACTOR: Final = 8
_LEAST_SECONDS: Final = 0.02
_ROUNDS: Final = 5
_ENOUGH_SECONDS: Final = 0.5
"""What takes so long in all is not measured once more."""


def seconds(shape: Shape, number: int) -> tuple[int, float]:
    """Return the bytes of a shape of some size, and the least CPU time that checking it takes."""
    profile = None if shape.provider is None else profiles.load(shape.provider)
    conversation = shape.build(number)
    taken: list[float] = []
    gc.collect()
    gc.disable()
    while len(taken) < _ROUNDS and sum(taken) < _ENOUGH_SECONDS:
        start = time.process_time()
        check(conversation, profile)
        taken.append(time.process_time() - start)
    gc.enable()
    return (new_size if shape.repeats else size)(conversation), min(taken)


def exponent(shape: Shape) -> tuple[int, float, float]:
    """Return the bytes and seconds of the larger of two sizes, and the exponent between them.

    The smaller one takes long enough for its constant costs not to count.
    """
    number, (few, short) = 16, seconds(shape, 16)
    while short < _LEAST_SECONDS:
        number *= 2
        few, short = seconds(shape, number)
    many, long = seconds(shape, FACTOR * number)
    return many, long, math.log(long / short) / math.log(many / few)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shapes = "; ".join(SHAPES)
    parser.add_argument("shape", nargs="*", metavar="SHAPE", help=f"only these, of: {shapes}")
    names = parser.parse_args().shape
    for name in names:
        if name not in SHAPES:
            parser.error(f"no shape {name!r}; there are: {shapes}")
    width = max(map(len, SHAPES))
    worst = 0.0
    print(f"{'shape':{width}}  {'bytes':>9}  {'least':>9}  exponent")
    for name in names or SHAPES:
        measured, taken, found = exponent(SHAPES[name])
        worst = max(worst, found)
        print(f"{name:{width}}  {measured / 1000:6.0f} kB  {1000 * taken:6.0f} ms  {found:8.2f}", flush=True)
    print(f"\ngreatest exponent by bytes: {worst:.2f} (bound: {BOUND})")
    return int(worst > BOUND)


if __name__ == "__main__":
    raise SystemExit(main())
