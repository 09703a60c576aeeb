"""Releases over time: `adapter bisect` and `adapter timeline`, with an index on loopback and a scripted adapter."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance import environments
from conformance.adapters import definition, install, release_days, timeline
from conformance.adapters.bisection import BAD, GOOD, SKIPPED, Bisection, Edge, ReleaseVerdict, scenarios_for, search
from conformance.cli import main
from conformance.errors import UnknownName, Unusable
from conformance.evidence.packages import settings
from conformance.evidence.packages.registries import Registries, Release
from tests import new_releases
from tests.loops import every
from tests.registry import Registry, registry

LOSES = "reasoning/present-on-tool-turns"
VERSIONS = ("1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0")
BROKEN_CLIENT = Path(__file__).with_name("broken_client.py")
DEFINITION = """\
title: A scripted adapter
language: python
package: scripted
packages: ["scripted==7.0"]
driver: driver.py
providers:
  deepseek: {}
variants: [plain]
"""
DRIVER = f"""\
import runpy, sys
version = sys.executable.split("scripted@")[1].split("-")[0]
if version == "6.0":
    sys.exit("this version has another interface")
sys.argv = ["driver.py", "drops-reasoning" if "3.0" <= version <= "5.0" else "good"]
runpy.run_path({str(BROKEN_CLIENT)!r}, run_name="__main__")
"""


def letters(verdicts: str) -> tuple[Sequence[str], Any]:
    """Return versions 0, 1, 2 …, and what judges them as a text says: b breaks, g keeps, s shows nothing."""
    kinds = {"b": BAD, "g": GOOD, "s": SKIPPED}
    versions = [str(number) for number in range(len(verdicts))]
    return versions, lambda version: ReleaseVerdict(kinds[verdicts[int(version)]])


def found(verdicts: str, good: str = "", bad: str = "") -> Bisection:
    return search(*letters(verdicts), good, bad)


@every(
    ("verdicts", "good", "bad", "first_bad", "first_fixed"),
    [
        ("ggbbbgg", "", "4", Edge("2", "1"), Edge("5", "4")),
        ("ggbbbgg", "", "", Edge("2", "1"), Edge("5", "4")),
        ("ggbbbgg", "0", "4", Edge("2", "1"), None),
        ("ggbbbgg", "6", "3", None, Edge("5", "4")),
        ("bbbbg", "", "", None, Edge("4", "3")),
        ("gbbbb", "", "", Edge("1", "0"), None),
        ("bbbb", "", "", None, None),
        ("gggg", "", "", None, None),
        ("ssss", "", "", None, None),
        ("g", "", "", None, None),
        ("b", "", "", None, None),
        ("sssggbbsggg", "", "5", Edge("5", "4"), Edge("8", "6", ("7",))),
        ("ssssssssgbb", "", "", Edge("9", "8"), None),
        ("gsssb", "", "", Edge("4", "0", ("1", "2", "3")), None),
        ("gssssssssssssb", "0", "13", Edge("13", "0", tuple(map(str, range(1, 13)))), None),
        ("gbggggbbgggg", "", "7", Edge("6", "5"), Edge("8", "7")),
        ("g" * 50 + "b" * 50 + "g" * 100, "", "60", Edge("50", "49"), Edge("100", "99")),
        ("g" * 90 + "b" * 20 + "g" * 90, "", "", Edge("90", "89"), Edge("110", "109")),
    ],
)  # fmt: skip
def test_a_search_finds_where_the_verdict_changes(
    verdicts: str, good: str, bad: str, first_bad: Edge | None, first_fixed: Edge | None
) -> None:
    bisected = found(verdicts, good, bad)
    assert (first_bad, first_fixed) == (bisected.first_bad, bisected.first_fixed)


def test_a_search_tries_few_releases_and_none_twice() -> None:
    tried: list[str] = []
    versions, judge = letters("g" * 500 + "b" * 500)

    def counted(version: str) -> ReleaseVerdict:
        tried.append(version)
        verdict: ReleaseVerdict = judge(version)
        return verdict

    assert Edge("500", "499") == search(versions, counted, "", "").first_bad
    assert len(tried) == len(set(tried)) <= 20


@every(
    ("verdicts", "good", "bad", "words"),
    [
        ("gggg", "", "2", "2 keeps the rule; --bad has to name a release that breaks it"),
        ("bbbb", "0", "2", "0 breaks the rule; --good has to name a release that keeps it"),
        ("ggsb", "", "2", "2 shows nothing, choose another release"),
    ],
)
def test_a_release_that_is_not_what_it_is_named_for_is_unusable(verdicts: str, good: str, bad: str, words: str) -> None:
    with pytest.raises(Unusable, match=words):
        found(verdicts, good, bad)


def test_an_unknown_release_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown release '9'; known: 0, 1"):
        found("gb", "", "9")


def test_only_the_scenarios_that_can_show_a_rule_are_run() -> None:
    assert ("phases",) == scenarios_for("responses/phase-kept", "responses")
    everything = scenarios_for("loop/every-prompt-answered", "chat")
    assert {"agent-session", "plain-answer"} <= set(everything)
    assert "phases" not in everything


def test_the_last_of_a_month_is_its_highest_version() -> None:
    dates = {"1.0": "2026-01-05", "2.0": "2026-01-20", "1.0.1": "2026-01-30", "2.1": "2026-03-01", "0.1": "2025-01-01",
             "9.0": ""}  # fmt: skip
    assert ("2.0", "2.1") == release_days.last_of_months(dates, date(2026, 3, 15), 12)
    assert ("2.1",) == release_days.last_of_months(dates, date(2026, 3, 15), 2)
    assert () == release_days.last_of_months(dates, date(2027, 12, 1), 1)
    assert ("0.1", "2.0", "2.1") == release_days.last_of_months(dates, date(2026, 3, 31), 15)
    assert ("2.1",) == release_days.last_of_months(dates, date(2026, 3, 15), 12, 3)
    assert ("2.0", "2.1") == release_days.last_of_months(dates, date(2026, 4, 15), 12, 3)


def test_the_last_of_a_minor_is_its_highest_version() -> None:
    versions = ("1.0.0", "1.1.2", "1.1.10", "1.2.0", "2.0.1", "1.2.1")
    assert ("1.0.0", "1.1.10", "1.2.1", "2.0.1") == release_days.last_of_minors(versions, 12)
    assert ("1.2.1", "2.0.1") == release_days.last_of_minors(versions, 2)
    assert ("1.1.10", "2.0.1") == release_days.last_of_minors(versions, 12, 2)


def test_no_release_is_later_than_a_later_one_of_its_minor() -> None:
    dates = {"1.0.0": "2026-05-01", "1.0.1": "2026-02-01", "1.0.2": "", "1.0.3": "2026-03-01", "1.1.0": "2026-01-01"}
    assert {**dates, "1.0.0": "2026-02-01"} == release_days.plausible(dates)


def test_tags_say_when_releases_were_made() -> None:
    text = "@ai-sdk/openai@3.0.1 2026-01-02\nai@6.0.0 2026-01-03\nv9.9.9 2020-01-01\nlatest 2026-01-01\n"
    assert {"3.0.1": "2026-01-02"} == release_days.of_tags(text, "@ai-sdk/openai")
    assert {"6.0.0": "2026-01-03"} == release_days.of_tags(text, "ai")
    assert {"9.9.9": "2020-01-01"} == release_days.of_tags(text, "openai")
    for wrong, words in (
        ("v1.0", "expected a tag and a day"),
        ("v1 2026", "expected a tag"),
        ("x 2026-01-01", "no line"),
    ):
        with pytest.raises(Unusable, match=words):
            release_days.of_tags(wrong, "openai")


def test_a_timeline_is_kept_for_the_reports(tmp_path: Path) -> None:
    releases = [{"version": "1.0", "date": "2026-01-05", "skipped": ""}, {"version": "1.1", "date": "", "skipped": ""}]
    span = {"since": "1.0", "before": "", "fixed": "1.1"}
    rule = {"rule": LOSES, "grades": {"1.0": "fails", "1.1": "keeps"}, "spans": [span]}
    about = {"adapter": "made-up", "package": "made", "provider": "anthropic.messages", "date": "2026-02-01"}
    kept = timeline.keep(tmp_path / "new", {**about, "scenarios": [], "releases": releases, "rules": [rule]})
    assert "made-up.anthropic.messages.json" == kept.name
    (read,) = timeline.stored(tmp_path / "new")
    assert (LOSES, "broken since 1.0 (2026-01-05) or earlier, fixed in 1.1 or earlier") == next(read.lines())
    assert ((span,), ()) == (read.broken(LOSES), read.broken("no/such"))
    assert () == timeline.stored(tmp_path / "absent")
    kept.write_text('{"adapter": "made-up"}', "utf-8")
    with pytest.raises(Unusable, match=r"made-up\.anthropic\.messages\.json is not a timeline, it lacks package"):
        timeline.stored(tmp_path / "new")


@pytest.fixture
def index() -> Iterator[Registry]:
    with registry() as held:
        yield held


def test_releases_have_dates_and_no_pre_releases(index: Registry) -> None:
    releases = (
        ("1.10", "2026-02-01T10:00:00Z", False),
        ("1.9", "2026-01-31T23:59:59.5Z", False),
        ("2.0rc1", "2026-03-01T00:00:00Z", False),
        ("1.11", "2026-03-01T00:00:00Z", "broken"),
    )
    for version, day, yanked in releases:
        index.publish_wheel("made-up", version, b"", **{"upload-time": day}, yanked=yanked)
    times = {
        "created": "2025-01-01T00:00:00Z",
        "1.0.0": "2026-05-01T00:00:00.000Z",
        "1.0.1-beta.2": "2026-06-01T00:00:00Z",
    }
    index.publish_npm("@made/up", {"1.0.1-beta.2": b"", "1.0.0": b"", "0.9.0": b""}, time=times)
    with httpx.Client() as client:
        asked = Registries(client, f"{index.url}/simple", lambda _scope: f"{index.url}/npm")
        assert (Release("1.9", "2026-01-31"), Release("1.10", "2026-02-01")) == asked.releases("pypi", "made-up")
        assert (Release("0.9.0", ""), Release("1.0.0", "2026-05-01")) == asked.releases("npm", "@made/up")


@pytest.fixture
def scripted(index: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of adapters with one whose releases 3 to 5 are broken, 6 crashes, and 2 cannot be installed."""
    folder = tmp_path / "sdks"
    (folder / "scripted").mkdir(parents=True)
    (folder / "scripted" / "adapter.yaml").write_text(DEFINITION, "utf-8")
    (folder / "scripted" / "driver.py").write_text(DRIVER, "utf-8")
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
    settings.pypi.cache_clear()
    today = date.today()  # noqa: DTZ011 — the days of the fake index are those of this machine
    for back, version in zip(range(len(VERSIONS) - 1, -1, -1), VERSIONS, strict=True):
        year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
        index.publish_wheel("scripted", version, b"", **{"upload-time": f"{year}-{month + 1:02}-01T00:00:00Z"})

    def create(path: Path, steps: Sequence[Sequence[str]], *_: object) -> None:
        if steps == [("scripted==2.0",)]:
            message = "pip cannot install scripted==2.0"
            raise Unusable(message)
        (path / "bin").mkdir()
        (path / "bin" / "python").symlink_to(sys.executable)

    monkeypatch.setattr(environments, "create_venv", create)
    yield folder
    settings.pypi.cache_clear()


def bisected(folder: Path, *more: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    chosen = ("--rule", LOSES, "--scenario", "interleaved-thinking", "--jobs", "1", "--adapters", str(folder))
    code = main(["adapter", "bisect", "scripted", *chosen, *more])
    return code, *capsys.readouterr()


@pytest.mark.slow
def test_bisect_names_the_first_bad_and_the_first_fixed_release(
    scripted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = bisected(scripted, "--bad", "4.0", "--format", "json", capsys=capsys)
    report: Mapping[str, Any] = json.loads(out)
    assert (0, "3.0", "1.0", ["2.0"]) == (
        code,
        *[report["first_bad"][key] for key in ("version", "after", "not_judged")],
    )
    assert ("7.0", "5.0", ["6.0"]) == tuple(report["first_fixed"][key] for key in ("version", "after", "not_judged"))
    kinds = {each["version"]: each["verdict"] for each in report["releases"]}
    assert {"1.0": GOOD, "2.0": SKIPPED, "3.0": BAD, "4.0": BAD, "5.0": BAD, "6.0": SKIPPED, "7.0": GOOD} == kinds
    assert "is skipped: it cannot be installed: pip cannot install scripted==2.0" in error
    assert "this version has another interface" in error


@pytest.mark.slow
def test_bisect_says_that_nothing_breaks_the_rule(scripted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = bisected(scripted, "--good", "7.0", capsys=capsys)
    assert 1 == code
    assert "not found: no release that was tried breaks the rule; name one with --bad" in out
    code, out, error = bisected(scripted, "--bad", "7.0", capsys=capsys)
    assert 2 == code
    assert "7.0 keeps the rule; --bad has to name a release that breaks it" in error


@every(
    ("arguments", "words"),
    [
        (["bisect", "scripted", "--rule", "no/such"], "unknown rule"),
        (["bisect", "scripted@3.0", "--rule", LOSES], "name releases with --good and --bad"),
        (["bisect", "scripted", "--rule", LOSES, "--bad", "3.5"], "unknown release '3.5'"),
        (["bisect", "scripted", "--rule", LOSES, "--bad", "3.0", "--good", "3.0"], "the same release"),
        (
            ["bisect", "scripted", "--rule", "stream/id-once"],
            "a rule about providers, which no release of a client breaks",
        ),
        (["bisect", "scripted", "--rule", LOSES, "--provider", "groq"], "unknown provider of scripted 'groq'"),
        (["bisect", "scripted", "--rule", LOSES, "--scenario", "no-such"], "unknown scenario 'no-such'"),
        (["timeline", "scripted@3.0"], "scripted@3.0: a timeline has all releases; omit the version"),
        (["timeline", "scripted", "--provider", "groq"], "unknown provider of scripted 'groq'"),
        (["timeline", "scripted", "--dates", "no-such"], "--dates no-such: cannot be read: No such file or directory"),
        (["timeline", "scripted", "--months", "0"], "--months: expected a positive number, got '0'"),
        (["timeline", "scripted", "--every", "-3"], "--every: expected a positive number, got '-3'"),
        (["timeline", "scripted", "--by", "minor", "--minors", "x"], "--minors: expected a positive number, got 'x'"),
    ],
)
def test_an_unusable_call_says_what_to_change(
    arguments: list[str], words: str, scripted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["adapter", *arguments, "--adapters", str(scripted)])
    assert words in capsys.readouterr().err


def test_an_index_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "pypi", lambda: "http://127.0.0.1:9/simple")
    assert 2 == main(["adapter", "timeline", "langchain-deepseek"])
    assert (
        "the releases of langchain-deepseek cannot be listed: http://127.0.0.1:9/simple/langchain-deepseek/: "
        "[Errno 111] Connection refused; they come from the index that pip is configured to use, over HTTP"
    ) in capsys.readouterr().err


@every(
    ("option", "value"),
    [("--seconds", "0"), ("--seconds", "-1"), ("--seconds", "x"), ("--jobs", "0"), ("--jobs", "-2")],
)
def test_a_run_takes_some_time_and_some_processes(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["adapter", "run", "reference", option, value])
    assert f"argument {option}: expected a " in capsys.readouterr().err


def test_an_adapter_without_a_package_has_no_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["adapter", "timeline", "reference"])
    assert "reference has no package with releases" in capsys.readouterr().err


@pytest.mark.slow
def test_a_timeline_shows_rules_by_release_and_goes_on_where_it_ended(
    scripted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "results"
    chosen = [
        "--scenario",
        "interleaved-thinking",
        "--results",
        str(target),
        "--jobs",
        "1",
        "--adapters",
        str(scripted),
    ]
    assert 0 == main(["adapter", "timeline", "scripted", *chosen])
    out, _ = capsys.readouterr()
    (line,) = [each for each in out.splitlines() if each.startswith(f"{LOSES}  ")]
    assert [".", "F", "F", "F", "."] == [each for each in line.split()[1:] if each != "-"]
    (span,) = [each for each in out.splitlines() if each.startswith(f"{LOSES}: ")]
    assert "broken since 3.0" in span
    assert "kept in 1.0" in span
    assert "fixed in 7.0" in span
    assert "2.0" in next(each for each in out.splitlines() if "was skipped: it cannot be installed" in each)
    assert "6.0" in next(each for each in out.splitlines() if "was skipped: the driver failed" in each)
    assert {"1.0", "3.0", "4.0", "5.0", "6.0", "7.0"} == {
        path.name.removeprefix("scripted@").removesuffix(".deepseek.json") for path in target.glob("*.json")
    }
    assert 0 == main(["adapter", "timeline", "scripted", *chosen, "--format", "json"])
    again, error = capsys.readouterr()
    assert 5 == error.count("completed before")
    assert [LOSES] == [each["rule"] for each in json.loads(again)["rules"] if "fails" in each["grades"].values()]


def test_environments_are_shared_with_other_verbs(scripted: Path) -> None:
    chosen = definition.load("scripted@3.0", scripted)
    folder = install.install(chosen, lambda _text: None)
    assert folder == install.environment_path(chosen) == install.install(chosen, lambda _text: None)


@pytest.mark.slow
def test_the_newest_release_is_compared_with_the_pinned_one(
    scripted: Path, tmp_path: Path, index: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = scripted / "scripted" / "adapter.yaml"
    pinned.write_text(pinned.read_text("utf-8").replace("scripted==7.0", "scripted==1.0"), "utf-8")
    stored = tmp_path / "stored"
    chosen = ["--provider", "deepseek", "--jobs", "1", "--adapters", str(scripted), "--install"]
    assert 0 == main(["adapter", "run", "scripted", *chosen, "--results", str(stored)])
    capsys.readouterr()
    where = ["--adapters", str(scripted), "--results", str(stored)]
    assert 0 == new_releases.main(where)
    assert "Nothing." in capsys.readouterr().out
    index.publish_wheel("scripted", "8.0", b"", **{"upload-time": "2026-01-01T00:00:00Z"})
    driver = scripted / "scripted" / "driver.py"
    driver.write_text(driver.read_text("utf-8").replace('"5.0" else', '"5.0" or version == "8.0" else'), "utf-8")
    assert 1 == new_releases.main(where)
    out, _ = capsys.readouterr()
    assert f"- `scripted@8.0` (pinned: `1.0`): `{LOSES}`" in out
    assert 0 == new_releases.main([*where, "--max-time", "0"])
    assert "Not reached within the time: scripted" in capsys.readouterr().out
