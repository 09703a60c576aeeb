"""The baseline: its patterns, what its entries cover, and its files."""

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.baseline import Entry, cover, fits, load
from conformance.errors import InvalidDocument
from tests.loops import every


class Failure(NamedTuple):
    names: tuple[str, ...]


def entry(match: str, *, until: str = "", most: int | None = None, flaky: bool = False) -> Entry:
    return Entry(match, "It is broken.", "https://example.org", until, most, flaky)


BROKEN = Failure(("openai/stream/role-first", "openai/stream.role"))


@every(
    ("pattern", "name", "expected"),
    [
        ("openai/stream/role-first", "openai/stream/role-first", True),
        ("openai/stream/role-first", "openai/stream/role-first/3fa9", False),
        ("openai/stream", "openai/stream/role-first", False),
        ("openai/stream/*", "openai/stream/role-first", True),
        ("openai/*", "openai/stream/role-first", False),
        ("*/stream/role-*", "groq/stream/role-first", True),
        ("open*/stream/*-first", "openrouter/stream/role-first", True),
        ("openai/**", "openai/stream/role-first", True),
        ("openai/**", "openai", True),
        ("openai/**/3fa9", "openai/stream/role-first/3fa9", True),
        ("openai/**/3fa9", "openai/3fa9", True),
        ("**/role-first", "openai/stream/role-first", True),
        ("**/first", "openai/stream/role-first", False),
        ("openai/stream.role", "openai/streamXrole", False),
        ("openai/ids.[a-z]+", "openai/ids.format", False),
    ],
)
def test_a_pattern_fits_a_whole_name_part_by_part(pattern: str, name: str, expected: bool) -> None:  # noqa: FBT001
    assert expected is fits(pattern, name)


PARTS = st.text("ab.", min_size=1, max_size=3)
PATTERNS = st.lists(st.one_of(st.just("**"), st.text("ab.*", min_size=1, max_size=3)), min_size=1, max_size=5)


def plainly(pattern: list[str], name: list[str]) -> bool:
    """Match a pattern by brute force."""
    if not pattern:
        return not name
    if pattern[0] == "**":
        return plainly(pattern[1:], name) or (bool(name) and plainly(pattern, name[1:]))
    return bool(name) and within(pattern[0], name[0]) and plainly(pattern[1:], name[1:])


def within(pattern: str, part: str) -> bool:
    if not pattern:
        return not part
    if pattern[0] == "*":
        return within(pattern[1:], part) or (bool(part) and within(pattern, part[1:]))
    return bool(part) and pattern[0] == part[0] and within(pattern[1:], part[1:])


@given(PATTERNS, st.lists(PARTS, min_size=1, max_size=5))
def test_matching_agrees_with_brute_force(pattern: list[str], name: list[str]) -> None:
    assert plainly(pattern, name) is fits("/".join(pattern), "/".join(name))


@given(st.lists(PARTS, min_size=1, max_size=5))
def test_a_name_without_stars_fits_itself_and_two_stars_fit_everything(name: list[str]) -> None:
    joined = "/".join(name)
    assert fits(joined, joined)
    assert fits("**", joined)


def test_many_stars_are_matched_quickly() -> None:
    assert not fits("/".join(["**", "*a*a*a*a*"] * 20) + "/x", "/".join(["aaaaaaaaab" * 20] * 50))


TODAY = "2026-08-01"


@every(
    ("entries", "failures", "expected"),
    [
        ([], [BROKEN], "unexpected"),
        ([entry("openai/stream/role-first")], [BROKEN], "expected"),
        ([entry("openai/stream.role")], [BROKEN], "expected"),
        ([entry("groq/**")], [BROKEN], "unexpected unused"),
        ([entry("groq/**", flaky=True)], [BROKEN], "unexpected"),
        ([entry("openai/**")], [], "unused"),
        ([entry("openai/**", flaky=True)], [], ""),
        ([entry("openai/**", until="2026-08-02")], [BROKEN], "expected"),
        ([entry("openai/**", until="2026-08-01")], [BROKEN], "unexpected expired"),
        ([entry("openai/**", until="2026-08-01")], [], "expired"),
        ([entry("openai/**"), entry("**/role-first")], [BROKEN], "expected"),
        ([entry("openai/**", most=2)], [BROKEN, BROKEN], "expected"),
        ([entry("openai/**", most=1)], [BROKEN, BROKEN], "expected exceeded"),
    ],
)
def test_what_entries_cover(entries: list[Entry], failures: list[Failure], expected: str) -> None:
    coverage = cover(failures, entries, TODAY)
    assert expected == " ".join(name for name in type(coverage).__slots__ if getattr(coverage, name))


def test_without_a_day_no_entry_has_expired() -> None:
    coverage = cover([BROKEN], [entry("openai/**", until="2020-01-01")])
    assert ((), ()) == (coverage.unexpected, coverage.expired)


def test_a_failure_is_expected_for_the_first_entry_that_covers_it_and_neither_is_unused() -> None:
    first, second = entry("openai/**"), entry("**/role-first")
    coverage = cover([BROKEN], [first, second])
    assert ((BROKEN, first),) == coverage.expected
    assert () == coverage.unused


ONE = "{match: a/b/c/d, reason: R, link: L, until: 2027-01-01}"


def written(path: Path, text: str) -> Path:
    file = path / "expected-failures.yaml"
    file.write_text(text, "utf-8")
    return file


def test_a_file_of_entries_is_read_with_the_line_of_each(tmp_path: Path) -> None:
    first, second = (
        "match: a/b.plain/c/d\n  reason: R\n  link: L\n  until: 2027-01-01",
        "{match: c/**, reason: R, link: L, until: 2027-01-01, max: 3, flaky: true}",
    )
    text = f"# Why\n- {first}\n- {second}\n"
    day = "2027-01-01"
    expected = (Entry("a/b.plain/c/d", "R", "L", day, line=2), Entry("c/**", "R", "L", day, 3, flaky=True, line=6))
    assert expected == load(written(tmp_path, text), today="2026-11-23")


@pytest.mark.parametrize(
    ("text", "line", "pointer"),
    [
        ("match: a/b\n", 1, ""),
        ("- reason: R\n  link: L\n", 1, "/0"),
        ("- {match: a/b/c/d, reason: R, link: L}\n", 1, "/0"),
        (f"- {ONE}\n- match: a\n  reason: R\n  link: L\n  until: 2027-01-01\n", 2, "/1/match"),
        ("- match: a/b/c/d\n  reason: R\n  link: L\n  owner: me\n", 4, "/0/owner"),
        ("- match: a/b/c/d\n  reason: R\n  link: L\n  until: soon\n", 4, "/0/until"),
        (f"- {ONE}\n- {ONE}\n", 2, "/1/match"),
        # A pattern says how many failures it may cover, and only a pattern.
        ("- {match: a/*/c/d, reason: R, link: L, until: 2027-01-01}\n", 1, "/0/match"),
        ("- match: a/b/c/d\n  reason: R\n  link: L\n  until: 2027-01-01\n  max: 2\n", 5, "/0/max"),
        ("- {match: a/**, reason: R, link: L, until: 2027-01-01, max: 0}\n", 1, "/0/max"),
        # An entry names its case.
        ("- {match: a/c/d, reason: R, link: L, until: 2027-01-01}\n", 1, "/0/match"),
        # It ends within a year of 2026-11-23.
        ("- match: a/b/c/d\n  reason: R\n  link: L\n  until: 2027-11-25\n", 4, "/0/until"),
        ("- match: a/b/c/d\n  reason: R\n  link: L\n  until: 2099-01-01\n", 4, "/0/until"),
    ],
)
def test_an_invalid_entry_is_refused_with_its_line(tmp_path: Path, text: str, line: int, pointer: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InvalidDocument) as raised:
        load(file, today="2026-11-23")
    assert (str(file), line, pointer) == (raised.value.file, raised.value.line, raised.value.pointer)


def test_every_entry_of_the_project_has_a_reason_and_a_link() -> None:
    every = load() + load(recordings=True)
    assert every
    for each in every:
        assert each.reason.endswith(".")
        assert each.link.startswith("https://")


def test_entries_of_recordings_and_of_results_are_read_separately(tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    names = ("recordings/a/b/c", "a/b/c/d")
    about = "reason: R.\n  link: L\n  until: 2027-01-01\n"
    file.write_text("".join(f"- match: {each}\n  {about}" for each in names))
    assert ["a/b/c/d"] == [entry.match for entry in load(file)]
    assert ["recordings/a/b/c"] == [entry.match for entry in load(file, recordings=True)]
