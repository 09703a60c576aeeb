"""How the cost of checking grows with the input: the exponent by bytes of each shape.

python -m tests.benchmarks.growth [SHAPE…]
"""

import gc
import math
import sys
import time
from collections.abc import Sequence

from tabulate import tabulate

from conformance import profiles
from conformance.judge import check
from tests.benchmarks.shapes import SHAPES, Shape, size

BOUND = 1.25
FACTOR = 16
_LEAST_SECONDS = 0.02
_ROUNDS = 3


def seconds(shape: Shape, number: int) -> tuple[int, float]:
    """Return the bytes of a shape of some size, and the least CPU time that checking it takes."""
    profile = None if shape.provider is None else profiles.load(shape.provider)
    conversation = shape.build(number)
    taken = []
    gc.collect()
    gc.disable()
    for _ in range(_ROUNDS):
        start = time.process_time()
        check(conversation, profile)
        taken.append(time.process_time() - start)
    gc.enable()
    return size(conversation), min(taken)


def exponent(shape: Shape) -> tuple[int, float, float]:
    """Return the bytes and seconds of the larger of two sizes, and the exponent between them.

    The smaller one takes long enough for its constant costs not to count.
    """
    number, (few, short) = 16, seconds(shape, 16)
    while short < _LEAST_SECONDS:
        number *= 2
        few, short = seconds(shape, number)
    # A history of n exchanges has n² bytes.
    step = FACTOR if seconds(shape, 2 * number)[0] < 3 * few else math.isqrt(FACTOR)
    many, long = seconds(shape, step * number)
    return many, long, math.log(long / short) / math.log(many / few)


def main(names: Sequence[str]) -> int:
    rows = []
    worst = 0.0
    for name in names or SHAPES:
        measured, taken, found = exponent(SHAPES[name])
        worst = max(worst, found)
        rows.append([name, f"{measured / 1000:.0f} kB", f"{1000 * taken:.0f} ms", f"{found:.2f}"])
    print(tabulate(rows, headers=["shape", "bytes", "least", "exponent"], disable_numparse=True))
    print(f"\ngreatest exponent by bytes: {worst:.2f} (bound: {BOUND})")
    return int(worst > BOUND)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
