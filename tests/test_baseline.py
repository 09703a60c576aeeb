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


def entry(match: str, *, until: str = "", flaky: bool = False) -> Entry:
    return Entry(match, "It is broken.", "https://example.org", until, flaky)


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


def written(path: Path, text: str) -> Path:
    file = path / "expected-failures.yaml"
    file.write_text(text, "utf-8")
    return file


def test_a_file_of_entries_is_read_with_the_line_of_each(tmp_path: Path) -> None:
    first, second = (
        "match: a/b\n  reason: R\n  link: L",
        "{match: c/**, reason: R, link: L, until: 2027-01-01, flaky: true}",
    )
    text = f"# Why\n- {first}\n- {second}\n"
    expected = (Entry("a/b", "R", "L", line=2), Entry("c/**", "R", "L", "2027-01-01", flaky=True, line=5))
    assert expected == load(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "line", "pointer"),
    [
        ("match: a/b\n", 1, ""),
        ("- reason: R\n  link: L\n", 1, "/0"),
        ("- {match: a/b, reason: R, link: L}\n- match: a\n  reason: R\n  link: L\n", 2, "/1/match"),
        ("- match: a/b\n  reason: R\n  link: L\n  owner: me\n", 4, "/0/owner"),
        ("- match: a/b\n  reason: R\n  link: L\n  until: soon\n", 4, "/0/until"),
        ("- {match: a/b, reason: R, link: L}\n- {match: a/b, reason: S, link: M}\n", 2, "/1/match"),
    ],
)
def test_an_invalid_entry_is_refused_with_its_line(tmp_path: Path, text: str, line: int, pointer: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InvalidDocument) as raised:
        load(file)
    assert (str(file), line, pointer) == (raised.value.file, raised.value.line, raised.value.pointer)


def test_every_entry_of_the_project_has_a_reason_and_a_link() -> None:
    every = load() + load(recordings=True)
    assert every
    for each in every:
        assert each.reason.endswith(".")
        assert each.link.startswith("https://")


def test_entries_of_recordings_and_of_results_are_read_separately(tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text("".join(f"- match: {each}\n  reason: R.\n  link: L\n" for each in ("recordings/a/b", "a/b")))
    assert ["a/b"] == [entry.match for entry in load(file)]
    assert ["recordings/a/b"] == [entry.match for entry in load(file, recordings=True)]
