"""The gate in pytest: strict expected failures, stale entries, and failures that no entry may cover."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance.baseline import Entry
from conformance.cli import main
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, Results
from conformance.suite.failures import ExpectedFailures
from conformance.transport.http import HttpReply
from tests.flaky import altered
from tests.forks import WITHOUT, run_pytest

pytestmark = pytest.mark.slow

TODAY = "2026-11-22"
ENDS = (datetime.now(UTC).date() + timedelta(300)).isoformat()
CASE = "plain-answer.stream"
DONE, ROLE = "stream/ends-with-done", "stream/role-first"


def entry(match: str, *, until: str = "", flaky: bool = False) -> Entry:
    return Entry(match, "It never does.", "https://example.org", until, flaky=flaky)


def played(status: Status, evidence: Evidence = Evidence.LIVE) -> Case:
    found = (Finding("/0", "expected a, got b", Level.MUST),) if status is Status.FAILED else ()
    return Case("plain-answer", "stream", evidence, (Outcome(DONE, status, Level.MUST, 1, found),))


@pytest.mark.parametrize(
    ("match", "until", "evidence", "covered"),
    [
        (f"groq/{CASE}/{DONE}", "", Evidence.LIVE, True),
        (f"groq/*/{DONE}", "", Evidence.ENGINE, True),
        (f"groq/{DONE}", "", Evidence.LIVE, False),
        ("*/*/stream/*", "", Evidence.LIVE, True),
        ("gro*/*/stream/*", "", Evidence.LIVE, True),
        ("**", "", Evidence.LIVE, True),
        (f"groq/*/{DONE}", "2026-11-22", Evidence.LIVE, False),
        (f"groq/*/{DONE}", "", Evidence.SIMULATED, False),
        (f"openai/*/{DONE}", "", Evidence.LIVE, False),
    ],
)
def test_an_entry_in_force_covers_what_a_real_provider_does(
    match: str, until: str, evidence: Evidence, *, covered: bool
) -> None:
    expected = ExpectedFailures.of_subject("groq", [entry(match, until=until)], TODAY)
    assert covered is (expected.covering("groq", played(Status.FAILED, evidence), DONE) is not None)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (entry(f"groq/{CASE}/{DONE}"), True),
        (entry(f"groq/{CASE}/{DONE}", flaky=True), False),
        (entry(f"groq/*/{DONE}"), False),
        (entry("groq/**"), False),
    ],
)
def test_only_an_entry_about_one_fact_is_stale_as_soon_as_it_passes(given: Entry, *, named: bool) -> None:
    expected = ExpectedFailures.of_subject("groq", [given], TODAY)
    assert named is (expected.naming("groq", played(Status.PASSED), DONE) is not None)


@pytest.mark.parametrize(
    ("given", "is_complete", "reported"),
    [
        (entry(f"groq/*/{DONE}"), True, "stale"),
        (entry(f"groq/*/{DONE}"), False, ""),
        (entry(f"groq/*/{DONE}", flaky=True), True, ""),
        (entry(f"groq/{CASE}/no/such"), True, "unmatched"),
        (entry(f"groq/{CASE}/no/such"), False, ""),
        (entry(f"groq/*/{DONE}", until="2026-11-01"), False, "expired"),
        (entry(f"openai/{CASE}/no/such"), True, ""),
        (entry("**/no/such"), True, ""),
        (entry("gro*/no/such"), True, ""),
    ],
)
def test_entries_are_checked_as_the_gate_does_once_every_case_has_run(
    given: Entry, reported: str, *, is_complete: bool
) -> None:
    results = Results("groq", "m", (played(Status.PASSED),))
    expected = ExpectedFailures.of_subject("groq", [given], TODAY, allow_wide=True)
    found = expected.check_entries(results, is_complete=is_complete)
    assert ([reported] if reported else []) == [
        name for name in ("stale", "unmatched", "expired", "unexpected") if getattr(found, name)
    ]


@pytest.fixture(scope="module")
def endless() -> Iterator[str]:
    """A provider that never sends [DONE]."""

    def alter(_number: int, _body: Any, answered: HttpReply) -> HttpReply:
        body = answered.body if isinstance(answered.body, bytes) else b"".join(answered.body)
        return replace(answered, body=body.replace(b"data: [DONE]\n\n", b""))

    with altered(alter) as url:
        yield url


def run(pytester: pytest.Pytester, url: str, expected: str, *arguments: str) -> tuple[int, str]:
    Path(pytester.path, "expected.yaml").write_text(expected)
    asked = ["--provider=openai", "--live", f"--base-url={url}", "--expected=expected.yaml", "-rxX", *arguments]
    result = run_pytest(pytester, *asked)
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in text
    return int(result.ret), text


def lines(*matches: str, more: str = "") -> str:
    more = more or f"  until: {ENDS}\n"
    about = f"  reason: It never does.\n  link: https://e.org\n{more}"
    most = "  max: 99\n"
    return "".join([f"- match: '{each}'\n{about}{most if '*' in each else ''}" for each in matches])


def test_an_expected_failure_is_an_xfail_and_passes_the_gate(pytester: pytest.Pytester, endless: str) -> None:
    code, text = run(pytester, endless, lines(f"openai/*.stream/{DONE}"), "--results=out")
    assert 0 == code, text
    assert re.search(rf"XFAIL \S+ - It never does. Seen: {DONE}", text)
    assert "Stale expected failures" not in text
    results, expected = (str(Path(pytester.path, name)) for name in ("out", "expected.yaml"))
    assert [0, 1] == [main(["gate", results, "--expected", expected]), main(["gate", results])]


def test_an_unexpected_pass_fails(pytester: pytest.Pytester, endless: str) -> None:
    expected = lines(f"openai/{CASE}/{DONE}", f"openai/{CASE}/{ROLE}")
    code, text = run(pytester, endless, expected, "-k", f"{CASE}-stream and test_rule")
    assert 1 == code
    assert f"passes, but is expected to fail: It never does. Remove the entry openai/{CASE}/{ROLE}." in text
    assert "1 failed" in text


def test_an_entry_that_matches_nothing_fails_only_a_whole_run(pytester: pytest.Pytester, endless: str) -> None:
    expected = lines(f"openai/*.stream/{DONE}", f"openai/{CASE}/no/such-rule")
    code, text = run(pytester, endless, expected)
    assert 1 == code
    assert f"unmatched entry openai/{CASE}/no/such-rule (line 6): It never does." in text
    assert " failed" not in text
    assert 0 == run(pytester, endless, expected, "-k", CASE)[0]


def test_an_entry_past_its_end_fails_any_run(pytester: pytest.Pytester, endless: str) -> None:
    expected = lines(f"openai/{CASE}/no/such-rule", more="  until: 2026-01-01\n")
    code, text = run(pytester, endless, expected, "-k", "plain-answer.plain")
    assert (1, True) == (code, f"entry expired on 2026-01-01 openai/{CASE}/no/such-rule" in text)


def test_a_file_that_is_none_is_refused_with_its_line(pytester: pytest.Pytester) -> None:
    code, text = run(pytester, "http://127.0.0.1:9/v1", "- match: a/b\n")
    assert (pytest.ExitCode.USAGE_ERROR, True) == (code, "expected.yaml:1" in text)


def test_a_run_that_is_split_among_processes_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        def pytest_addoption(parser):
            parser.addoption("--dist", default="no")
    """)
    result = pytester.runpytest_subprocess(*WITHOUT, "-p", "no:xdist", "--provider=deepseek", "--dist=load", timeout=60)
    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert "omit -n, since it would split the results" in result.stderr.str()
