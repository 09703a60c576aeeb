"""Attempts to open the gate with results that prove less than a whole run, through the real commands.

Each attempt of the table ends with the stated exit code and words. Whatever is accepted with --partial is named in the
last line.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from conformance import profiles, scenarios
from conformance.cli import main
from conformance.resources import folder
from conformance.results.files import read
from conformance.results.record import Selection, sealed
from conformance.results.runs import RunClaim
from conformance.simulator import simulated
from conformance.suite.cassettes import record, recorded, replay
from conformance.suite.options import Options
from conformance.suite.run_claims import contradicted
from conformance.wire.exchange import Exchange
from tests import forks
from tests.checking import ENVIRONMENT

pytestmark = pytest.mark.slow

PROVIDER = "groq"
FILE = f"{PROVIDER}.json"
ENDS = (datetime.now(UTC).date() + timedelta(300)).isoformat()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a whole run."""
    results = tmp_path_factory.mktemp("whole")
    cassettes = folder("cassettes")
    replay(recorded(cassettes, PROVIDER)[:1], cassettes, results, 1, lambda _: None)
    return results


class Answer(NamedTuple):
    """What a command answered; `last` is the last line of all that it printed."""

    code: int
    text: str
    last: str


Command = Callable[..., Answer]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: object) -> Answer:
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as ended:
            code = int(str(ended.code))
        shown = "".join(capsys.readouterr())
        return Answer(code, " ".join(shown.split()), shown.splitlines()[-1] if shown else "")

    return run


def changed(path: Path, **members: Any) -> Path:
    """Change members of a file of results, and give it the digest of its new content."""
    value = orjson.loads(path.read_bytes())
    run = members.pop("run", {})
    path.write_bytes(orjson.dumps(sealed({**value, **members, "run": {**value["run"], **run}})))
    return path


def edited(path: Path) -> None:
    text = path.read_text()
    assert '"judged":[0' in text
    path.write_text(text.replace('"judged":[0', '"judged":[7', 1))


def without_a_case(path: Path) -> None:
    value = orjson.loads(path.read_bytes())
    passed = {rule: {**row, "judged": row["judged"][1:]} for rule, row in value["passed"].items()}
    changed(path, cases=value["cases"][1:], passed=passed)


def unfinished(path: Path) -> None:
    text = path.read_text()
    path.write_text(text.replace('"complete": true', '"complete": false'))


FILTERED = {"cases": 12, "of_cases": 12, "items": 9, "of_items": 317, "by": ["-k plain"]}

ATTEMPTS: dict[str, tuple[Callable[[Path], object], str, bool]] = {
    # What was done to the results; what the refusal says; whether --partial accepts it.
    "edited": (edited, "was edited: its content does not have the digest that it names", True),
    "a case removed, with a new digest": (without_a_case, "cases that were run", True),
    "emptied file": (lambda path: path.write_bytes(b""), "expected JSON, got an empty text", False),
    "emptied object": (lambda path: path.write_bytes(b"{}"), 'expected the key "format"', False),
    "emptied cases": (lambda path: changed(path, cases=[], passed={}), "has no cases", False),
    "cut file": (lambda path: path.write_bytes(path.read_bytes()[:-30]), "expected", False),
    "not complete": (unfinished, "is incomplete", True),
    "interrupted": (
        lambda path: changed(path, run={"ended": "the run was interrupted"}),
        "is incomplete: the run",
        True,
    ),
    "filtered": (lambda path: changed(path, run={"selected": FILTERED}), "9 of 317 items (-k plain)", True),
    "of another provider": (
        lambda path: path.rename(path.with_name("openai.json")),
        "is of groq, and not of openai",
        True,
    ),
    "of an earlier format": (lambda path: changed(path, format=0), "/format", False),
}
VERBS = ("gate", "report badge", "report statement make", "report diff", "report --results")


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_results_that_prove_less_than_a_whole_run_are_refused(
    attempt: str, tmp_path: Path, whole: Path, command: Command
) -> None:
    change, words, _ = ATTEMPTS[attempt]
    given = Path(shutil.copytree(whole, tmp_path / "given"))
    assert 0 == command("gate", given).code
    change(given / FILE)
    for verb in VERBS:
        named = [whole, given] if verb == "report diff" else [given]
        answer = command(*verb.split(), *named)
        assert (2, True) == (answer.code, words in answer.text), (verb, answer)


@pytest.mark.parametrize("attempt", [name for name, (_, _, is_accepted) in ATTEMPTS.items() if is_accepted])
def test_partial_accepts_what_it_names_in_the_last_line(
    attempt: str, tmp_path: Path, whole: Path, command: Command
) -> None:
    change, words, _ = ATTEMPTS[attempt]
    given = Path(shutil.copytree(whole, tmp_path / "given"))
    change(given / FILE)
    for verb in ("gate", "report badge", "report statement make", "report diff"):
        named = [given, given] if verb == "report diff" else [given]
        answer = command(*verb.split(), "--partial", *named)
        assert 0 == answer.code, (verb, answer)
        assert f"partial: {given}" in answer.last, (verb, answer)
        assert words in answer.last, (verb, answer)


@pytest.mark.parametrize("attempt", [name for name, (_, _, is_accepted) in ATTEMPTS.items() if not is_accepted])
def test_partial_does_not_accept_what_holds_nothing(
    attempt: str, tmp_path: Path, whole: Path, command: Command
) -> None:
    given = Path(shutil.copytree(whole, tmp_path / "given"))
    ATTEMPTS[attempt][0](given / FILE)
    assert 2 == command("gate", "--partial", given).code


def test_an_empty_folder_and_results_of_other_providers_are_refused(
    tmp_path: Path, whole: Path, command: Command
) -> None:
    for verb in VERBS[:3]:
        assert (2, True) == ((answer := command(*verb.split(), tmp_path)).code, "no results found" in answer.text), verb
    answer = command("gate", "--provider", "openai", whole)
    assert (2, True) == (answer.code, "is of groq, and not of openai, which --provider names" in answer.text)
    assert 0 == command("gate", "--provider", PROVIDER, whole).code
    other = changed(Path(shutil.copy(whole / FILE, tmp_path / "other.json")), subject="openai")
    answer = command("report", "diff", whole, other)
    assert (2, True) == (answer.code, "compare results of the same provider" in answer.text)


def baseline(path: Path, match: str, more: str = "", until: str = ENDS) -> Path:
    path.write_text(f"- match: '{match}'\n  reason: It never does.\n  link: https://e.org\n  until: {until}\n{more}")
    return path


CASE = f"{PROVIDER}/plain-answer.stream"
RULE = "stream/ends-with-done"
BASELINES = {
    "of another provider": (f"openai/plain-answer.stream/{RULE}", "", ENDS, 2, "about another provider or adapter"),
    "without a case": (f"{PROVIDER}/{RULE}", "", ENDS, 2, "which names no case"),
    "without an end": (f"{CASE}/{RULE}", "", "", 2, "/0/until"),
    "with an end in ten years": (f"{CASE}/{RULE}", "", "2099-01-01", 2, "expected a day within a year"),
    "a glob without max": (f"{PROVIDER}/*/{RULE}", "", ENDS, 2, 'expected the key "max"'),
    "wide": (f"{PROVIDER}/**", "  max: 500\n  flaky: true\n", ENDS, 1, "1 wide baseline; covered 0 of"),
    "unmatched": (f"{CASE}/stream/no-such-rule", "", ENDS, 1, "1 unmatched entry"),
    "stale": (f"{CASE}/{RULE}", "", ENDS, 1, "1 stale entry"),
    "expired": (f"{CASE}/{RULE}", "", "2026-01-01", 1, "1 expired entry"),
}


@pytest.mark.parametrize("attempt", BASELINES)
def test_a_baseline_does_not_open_the_gate(attempt: str, tmp_path: Path, whole: Path, command: Command) -> None:
    match, more, until, code, words = BASELINES[attempt]
    expected = baseline(tmp_path / "expected.yaml", match, more, until)
    answer = command("gate", whole, "--expected", expected)
    assert (code, True) == (answer.code, words in answer.text), answer
    allowed = command("gate", whole, "--expected", expected, "--allow-wide-baseline")
    assert (0 if attempt == "wide" else code) == allowed.code


def environment() -> dict[str, str]:
    return {name: value for name, value in ENVIRONMENT.items() if name not in ("PYTEST_ADDOPTS", "CONFORMANCE_API_KEY")}


def pytest_run(where: Path, *arguments: str) -> tuple[int, str]:
    done = forks.suites(*arguments, "--results=out", folder=where, environment=environment())
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-k", "plain-answer and not test_rule"), "(-k 'plain-answer and not test_rule')"),
        (("--variant=stream", "-k", "plain-answer"), "--variant stream)"),
    ],
)
def test_a_filtered_run_says_what_it_left_out(
    tmp_path: Path, command: Command, arguments: tuple[str, ...], words: str
) -> None:
    code, text = pytest_run(tmp_path, f"--provider={PROVIDER}", *arguments)
    assert 0 == code, text
    answer = command("gate", tmp_path / "out")
    assert (2, True) == (answer.code, words in answer.text), answer
    assert "is of a part of the tests: " in answer.text
    assert 0 == command("gate", "--partial", tmp_path / "out").code


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGINT, "the run was interrupted"), (signal.SIGKILL, "the run goes on, or it was killed")],
)
def test_a_run_that_was_interrupted_or_killed_leaves_no_results_that_look_complete(
    tmp_path: Path, whole: Path, command: Command, number: signal.Signals, words: str
) -> None:
    written = tmp_path / "out" / FILE
    written.parent.mkdir()
    # Those of an earlier run do not outlive the beginning of this one.
    shutil.copy(whole / FILE, written)
    before = written.read_bytes()
    given = [
        sys.executable,
        "-m",
        "pytest",
        *forks.WITHOUT,
        "-p",
        "no:xdist",
        f"--provider={PROVIDER}",
        "--results=out",
    ]
    process = subprocess.Popen(given, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL)
    try:
        while written.read_bytes() == before:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, number)
        assert 0 != process.wait(60)
    finally:
        process.kill()
        process.wait()
    answer = command("gate", written)
    assert (2, True) == (answer.code, words in answer.text), answer
    assert not orjson.loads(written.read_bytes())["complete"]


def test_a_run_that_stops_at_the_first_failure_says_so(tmp_path: Path, command: Command) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef fails(case):\n    pytest.fail('no')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -x -p conftest\npythonpath = .\n")
    code, text = pytest_run(tmp_path, f"--provider={PROVIDER}")
    assert 1 == code, text
    answer = command("gate", tmp_path / "out")
    assert (2, True) == (answer.code, "items ran: stopping after 1 failures" in answer.text), answer


def test_a_contradicted_claim_fails_the_run_and_closes_the_gate(tmp_path: Path, command: Command) -> None:
    code, text = pytest_run(
        tmp_path, f"--provider={PROVIDER}", "--claim", "stream.done=false", "-k", "plain-answer.stream"
    )
    words = "stream.done: claimed false (yours), observed true"
    assert (1, True) == (code, words in text)
    assert " failed" not in text
    answer = command("gate", "--partial", tmp_path / "out")
    assert (1, True) == (answer.code, f"{PROVIDER}: contradicted claim: {words}" in answer.text)


def test_an_empty_profile_fails_the_run_and_names_the_claims_that_are_missing(tmp_path: Path, command: Command) -> None:
    profile = tmp_path / "empty.yaml"
    profile.write_text("title: Empty\nkind: gateway\nclaims: {}\n")
    deepseek = profiles.load("deepseek")
    with simulated(deepseek) as url:
        given = [f"--provider={profile}", f"--model={deepseek.model}", f"--base-url={url}/v1"]
        code, text = pytest_run(tmp_path, *given, "-k", "plain-answer.plain")
    missing = ("reasoning.response-field", "ids.format", "tools.parallel", "results.reversed")
    assert (1, []) == (code, [each for each in missing if each not in text.partition("Missing claims")[2]])
    assert "`conformance provider discover` finds their values" in text
    answer = command("gate", "--partial", tmp_path / "out")
    assert (1, True) == (answer.code, "empty: missing claim: ids.format" in answer.text)


def test_a_replay_has_the_digest_of_the_recorded_run_and_its_day(tmp_path: Path) -> None:
    model = profiles.load(PROVIDER).model
    first = record(Options(PROVIDER, tmp_path, "2026-11-20", model=model)).run
    names = [
        each for name in scenarios.names() if not (each := scenarios.load(name)).for_clients for _ in each.variants
    ]
    (again,) = replay(recorded(tmp_path, PROVIDER), tmp_path, tmp_path / "results", 1, lambda _: None)
    assert again.path
    second = read(again.path).run
    assert first.exchanges
    assert (first.exchanges, first.requests, "2026-11-20") == (second.exchanges, second.requests, second.date)
    assert ("", "chat", True) == (second.host, second.protocol, second.selection == Selection(len(names), len(names)))


def test_claims_that_replies_do_not_contradict_are_not_reported() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "call_2"}]}
    body = {"id": "r", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    exchange = Exchange({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}, body, 200)
    shown = {
        ("tools.parallel", False): "tools.parallel: claimed false (yours), observed true",
        ("tools.parallel", True): "",
        ("tools.supported", False): "tools.supported: claimed false (yours), observed true",
        ("ids.unique-in-reply", False): "ids.unique-in-reply: claimed false (yours), observed true",
        ("ids.format", "call_[0-9]"): "",
        ("ids.format", "toolu_[0-9]+"): "ids.format: claimed toolu_[0-9]+ (yours), observed call_[0-9]+",
        ("stream.done", False): "",
        ("tools.parallel", "unknown"): "",
        ("reasoning.response-field", "reasoning"): "",
    }
    for (name, value), words in shown.items():
        found = [*contradicted({name: RunClaim(value, "user")}, [exchange], {name: value})]
        assert ([words] if words else []) == found, name
    assert [] == [*contradicted({"tools.parallel": RunClaim(value=False, by="question")}, [exchange], {})]
