"""Bodies that repeat an earlier one cross the pipe without what they repeat, and are whole at its other end."""

import io
import random
from dataclasses import replace

import pytest

from conformance.documents.growing import common_bytes
from conformance.proxy import repeats
from conformance.proxy.copies import Copy, read_frame
from conformance.proxy.repeats import LEAST, MAX_HELD_BODIES, RepeatedBodies
from tests.checking import BASES
from tests.traffic import copy_of


def crossed(bodies: list[bytes]) -> tuple[list[Copy], int]:
    """Return copies with these requests as the other process reads them, and how many bytes crossed for all."""
    here, there, size = RepeatedBodies(), RepeatedBodies(), 0
    found = []
    for body in bodies:
        given = replace(copy_of(BASES["plain"][0]), sent=body)
        data = b"".join(given.frame(here))
        here.keep(given.sent)
        size += len(data)
        frame = read_frame(io.BytesIO(data), there)
        assert frame is not None
        found.append(frame.copy())
        assert found[-1] == replace(given, missing=found[-1].missing)
    return found, size


def session(seed: int, length: int) -> list[bytes]:
    drawn = random.Random(seed)  # noqa: S311 — repeatable, not secret
    body = drawn.randbytes(2 * LEAST)
    bodies = []
    for _ in range(length):
        body += drawn.randbytes(1000)
        bodies.append(body + b'], "tools": []}')
    return bodies


def test_a_session_crosses_with_what_is_new() -> None:
    bodies = session(1, 40)
    found, size = crossed(bodies)
    assert bodies == [each.sent for each in found]
    assert 140_000 > size
    assert 1_900_000 < sum(map(len, bodies))


def test_sessions_in_turns_cross_with_what_is_new() -> None:
    bodies = [each for several in zip(*[session(seed, 20) for seed in range(5)], strict=True) for each in several]
    found, size = crossed(bodies)
    assert bodies == [each.sent for each in found]
    assert 400_000 > size


def test_more_sessions_than_are_held_cross_whole() -> None:
    sessions = [session(seed, 3) for seed in range(MAX_HELD_BODIES + 1)]
    bodies = [each for several in zip(*sessions, strict=True) for each in several]
    found, size = crossed(bodies)
    assert bodies == [each.sent for each in found]
    assert sum(map(len, bodies)) <= size


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body[: len(body) // 2],
        lambda body: body,
        lambda body: b"x" + body[1:],
        lambda body: body[:-1],
        lambda body: body[: LEAST - 1],
        lambda _: b"",
        lambda body: body[: LEAST // 2] + b"\0" * LEAST,
    ],
)
def test_a_body_that_changes_is_whole(change: object) -> None:
    assert callable(change)
    first = session(2, 2)
    bodies = [*first, change(first[1]), *first]
    assert bodies == [each.sent for each in crossed(bodies)[0]]


def test_both_ends_hold_no_more_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MAX_HELD_BYTES", 5 * LEAST)
    held = RepeatedBodies()
    for body in session(3, 30):
        held.keep(body)
        assert sum(map(len, held._held)) <= 5 * LEAST


def test_the_common_beginning_is_found_to_the_byte() -> None:
    for length in (0, 1, 2, 3, 1000, 4097):
        text = random.Random(length).randbytes(length)  # noqa: S311
        assert [length] * 2 == [common_bytes(text, text), common_bytes(text, text + b"a")]
        assert length == common_bytes(text + b"b", text + b"a")
