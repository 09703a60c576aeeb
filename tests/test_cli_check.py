"""`conformance check`: what it recognizes, what each format shows, and the exit codes."""

import gzip
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conformance import rules
from conformance.documents.pointer import edit
from tests.checking import BASES, ENVIRONMENT, FAULTY, GOOD, STREAM, check, jsonl, write
from tests.loops import every
from tests.sampling import some


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("a.json", GOOD["request"], "request"),
        ("a.json", GOOD["request"]["messages"], "messages"),
        ("a.json", BASES["plain"][0]["response"], "response"),
        ("a.json", GOOD, "exchange"),
        ("a.json.gz", GOOD, "exchange"),
        ("a.json", BASES["thinking-session"], "exchanges"),
        ("a.jsonl", jsonl(GOOD), "exchange"),
        ("a.jsonl.gz", jsonl(GOOD), "exchange"),
        ("a.sse", STREAM, "stream"),
        ("unnamed", STREAM, "stream"),
    ],
)
def test_the_content_decides_the_kind_of_an_input(name: str, value: object, kind: str, tmp_path: Path) -> None:
    code, *_ = ended = check(write(tmp_path / name, value), "--format", "jsonl")
    assert (0, [kind]) == (code, [each["kind"] for each in ended.inputs])


def test_the_json_of_one_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "faulty.json", FAULTY)
    code, out, error = check(path, "--format", "json", "--rule", "transcript/result-*", "--rule", "transcript/calls-*")
    patch = [{"op": "replace", "path": "/messages/2/tool_call_id", "value": "call_a"}]
    fixes = [{"at": "/0/request", "title": "give the result the id of its call", "patch": patch}]
    finding = {
        "at": "/0/request/messages/2/tool_call_id",
        "message": "expected the id of a call of the message before ('call_a'), got 'call_9'",
        "level": "MUST",
        "side": "client",
        "rank": 1,
        "fixes": fixes,
    }
    missing = {
        "at": "/0/request/messages/1/tool_calls/0",
        "message": "expected a tool message with tool_call_id 'call_a' before the next turn, got none",
        "level": "MUST",
        "side": "client",
        "rank": 1,
        "fixes": fixes,
    }
    outcomes = [
        {"rule": "transcript/calls-answered", "status": "failed", "level": "MUST", "judged": 1, "findings": [missing]},
        {
            "rule": "transcript/result-answers-call",
            "status": "failed",
            "level": "MUST",
            "judged": 1,
            "findings": [finding],
        },
    ]
    summary = {
        "inputs": 1,
        "unreadable": 0,
        "skipped": 0,
        "exchanges": 1,
        "errored": 0,
        "hidden": 0,
        "rules": 2,
        "judged": 2,
        "findings": {"MUST": 2, "SHOULD": 0, "MAY": 0},
        "sides": {"client": 2, "provider": 0},
        "known": {},
        "as_of": {},
        "recognised": {},
        "unrecognised": 1,
    }
    judged = {"path": str(path), "line": None, "kind": "exchange", "provider": None, "outcomes": outcomes}
    judged["protocol"] = "chat"
    assert (1, "") == (code, error)
    assert {"inputs": [judged], "summary": summary} == json.loads(out)


def test_the_console_report_of_one_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "two.jsonl", jsonl(GOOD, FAULTY))
    code, out, error = check(path, "--provider", "deepseek", "--rule", "transcript/result-answers-call")
    assert (1, "") == (code, error)
    wrong = "expected the id of a call of the message before ('call_a'), got 'call_9'"
    assert [
        f"{path}:1: an exchange (chat), checked against deepseek",
        f"{path}:2: an exchange (chat), checked against deepseek",
        f"{path}:2: transcript/result-answers-call MUST (client) at /0/request/messages/2/tool_call_id: {wrong}",
    ] == out.splitlines()[:3]
    assert out.splitlines()[3].startswith("    deepseek answers 400: ")
    assert [
        "",
        "2 inputs; 2 exchanges; 1 of 1 rules applied",
        "checked by the claims of deepseek as of 2023-11-14",
        "findings: 1 MUST; 1 on the client side",
    ] == out.splitlines()[4:]


OLD_DAY, NEW_DAY = "2026-05-01", "2026-11-01"
"""Days before and after DeepSeek's models read images."""

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
LOOKING = {"request": {"model": "deepseek-flash", "messages": [{"role": "user", "content": [IMAGE]}]}}


@pytest.mark.parametrize(
    ("dates", "options", "as_of", "findings"),
    [
        ([OLD_DAY], [], OLD_DAY, 1),
        ([NEW_DAY], [], NEW_DAY, 0),
        ([OLD_DAY], ["--as-of", NEW_DAY], NEW_DAY, 0),
        ([NEW_DAY], ["--as-of", OLD_DAY], OLD_DAY, 1),
        ([""], ["--as-of", OLD_DAY], OLD_DAY, 1),
        ([OLD_DAY, NEW_DAY], [], f"{OLD_DAY}/{NEW_DAY}", 1),
    ],
)
def test_the_claims_of_the_day_of_an_exchange_hold_unless_the_user_names_another(
    tmp_path: Path, dates: list[str], options: list[str], as_of: str, findings: int
) -> None:
    path = write(tmp_path / "a.jsonl", jsonl(*({**LOOKING, **({"date": each} if each else {})} for each in dates)))
    chosen = ("--provider", "deepseek", "--rule", "request/content-parts-accepted", *options)
    summary = json.loads(check(path, *chosen, "--format", "json")[1])["summary"]
    assert (findings, {"deepseek": as_of}) == (summary["findings"]["MUST"], summary["as_of"])
    assert f"checked by the claims of deepseek as of {as_of.replace('/', ' to ')}\n" in check(path, *chosen)[1]


def test_a_model_that_the_provider_does_not_serve_on_that_day_is_noted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"request": {**GOOD["request"], "model": "kimi-k2.5"}})
    notes = [check(path, "--provider", "moonshot", "--as-of", day)[1] for day in ("2026-08-30", "2026-08-31")]
    said = "    moonshot does not serve the model 'kimi-k2.5' on 2026-08-31\n"
    assert [False, True] == [said in text for text in notes]


def test_today_is_the_day_of_the_clock(tmp_path: Path) -> None:
    before = datetime.now(UTC).date().isoformat()
    path = write(tmp_path / "good.json", GOOD)
    report = json.loads(check(path, "--provider", "deepseek", "--as-of", "today", "--format", "json")[1])
    assert report["inputs"][0]["as_of"] in (before, datetime.now(UTC).date().isoformat())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--provider", "none", "--as-of", "2026-01-01"], "--as-of needs a provider"),
        (["--provider", "deepseek", "--as-of", "2026-13-01"], "YYYY-MM-DD"),
        (["--provider", "deepseek", "--as-of", ""], "YYYY-MM-DD"),
    ],
)
def test_an_unusable_day_is_an_error(tmp_path: Path, options: list[str], words: str) -> None:
    code, out, error = check(write(tmp_path / "good.json", GOOD), *options)
    assert (2, "", True) == (code, out, words in error)


def test_a_finding_in_a_session_names_the_line_of_its_exchange(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", jsonl({**GOOD, "session": "s"}, {**FAULTY, "session": "s"}))
    _, out, _ = check(path)
    assert f"{path}:1: a session of exchanges (chat)\n" in out
    assert f"{path}:2: transcript/result-answers-call MUST (client) at /1/request/messages/2/tool_call_id" in out


def test_the_report_of_a_clean_input(tmp_path: Path) -> None:
    path = write(tmp_path / "good.json", GOOD)
    code, out, error = check(path)
    assert (0, "") == (code, error)
    assert out.startswith(f"{path}: an exchange (chat)\n\n1 input; 1 exchange; ")
    assert out.endswith("\nno findings\n")


def test_all_shows_every_rule_and_the_default_only_failures(tmp_path: Path) -> None:
    path = write(tmp_path / "good.json", GOOD)
    shown = check(path, "--format", "jsonl", "--all").inputs[0]["outcomes"]
    assert [rule.id for rule in rules.of_traffic()] == [outcome["rule"] for outcome in shown]
    assert {"passed", "not applicable"} == {outcome["status"] for outcome in shown}
    assert [] == check(path, "--format", "jsonl").inputs[0]["outcomes"]
    assert "transcript/calls-answered passed (1 checked)" in check(path, "--all")[1]


@pytest.mark.parametrize(
    ("rule", "level", "code", "shown"),
    [
        ("transcript/result-answers-call", None, 1, 1),
        ("transcript/result-answers-call", "must", 1, 1),
        ("reasoning/dropped-on-plain-turns", None, 1, 1),
        ("reasoning/dropped-on-plain-turns", "SHOULD", 1, 1),
        ("reasoning/dropped-on-plain-turns", "MUST", 0, 0),
    ],
)
def test_the_level_is_the_lowest_that_is_reported(
    rule: str, level: str | None, code: int, shown: int, tmp_path: Path
) -> None:
    talk = {"messages": [{"role": "assistant", "content": "Hello.", "reasoning_content": "Greet."}]}
    path = write(tmp_path / "a.json", FAULTY if rule.startswith("transcript") else talk)
    given = () if level is None else ("--level", level)
    ended = check(path, "--rule", rule, "--format", "jsonl", *given)
    assert (code, shown) == (ended[0], len(ended.inputs[0]["outcomes"]))
    assert ("1 finding below the requested level" in check(path, "--rule", rule, *given)[1]) is (shown == 0)


def test_a_broken_input_does_not_affect_others(tmp_path: Path) -> None:
    write(tmp_path / "1.json", '{"messages": [')
    write(tmp_path / "2.jsonl", jsonl(GOOD, '{"request": NaN}', FAULTY))
    write(tmp_path / "3.json", {"name": "not traffic"})
    write(tmp_path / "4.json", GOOD)
    write(tmp_path / "5.jsonl.gz", jsonl(GOOD)).write_bytes(gzip.compress(jsonl(*[GOOD] * 99).encode())[:-40])
    code, _, error = ended = check(tmp_path, tmp_path / "absent.json", "--format", "jsonl")
    assert 2 == code
    shown = [(Path(each["path"]).name, each["line"], "error" in each) for each in ended.inputs]
    assert ("1.json", 1, True) == shown[0]
    assert [("2.jsonl", 1, False), ("2.jsonl", 3, False), ("2.jsonl", 2, True)] == shown[1:4]
    assert [("3.json", None, False), ("4.json", None, False)] == shown[4:6]
    assert ("absent.json", None, True) == shown[-1]
    errors = [line.removeprefix("conformance: ") for line in error.splitlines()]
    assert [each["error"] for each in ended.inputs if "error" in each] == errors


def test_an_unrecognized_file_is_skipped_in_a_folder_and_an_error_by_name(tmp_path: Path) -> None:
    other = write(tmp_path / "manifest.json", {"name": "not traffic"})
    write(tmp_path / "request.json", GOOD)
    in_folder = check(tmp_path, "--format", "jsonl")
    assert (0, ["unrecognized", "exchange"]) == (in_folder[0], [each["kind"] for each in in_folder.inputs])
    assert ["skipped"] == in_folder.inputs[0]["notes"]
    by_name = check(other)
    assert 2 == by_name[0]
    assert "expected a request body" in by_name[2]


def test_a_file_without_chat_completions_is_not_clean(tmp_path: Path) -> None:
    path = write(tmp_path / "native.jsonl", jsonl({"api": "anthropic", "request": {}, "response": {}}))
    code, out, error = check(path)
    assert 2 == code
    assert "skipped, neither chat completions nor another wire that is known" in out
    assert "nothing was checked" in out
    assert "nothing was checked" in error


def test_a_folder_without_inputs_is_not_clean(tmp_path: Path) -> None:
    write(tmp_path / "notes.txt", "nothing")
    code, _, error = check(tmp_path)
    assert 2 == code
    assert f"{tmp_path}: no file in this folder has one of these suffixes: .json" in error


def test_a_folder_is_read_in_order_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b/2.json", "b/1.JSON.GZ", "a.har.txt", "c.jsonl", ".hidden.json", ".git/x.json", "b/.x/y.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        write(tmp_path / name, GOOD)
    shown = [each["path"] for each in check(tmp_path, "--format", "jsonl").inputs]
    assert [str(tmp_path / name) for name in ("c.jsonl", "b/1.JSON.GZ", "b/2.json")] == shown


def test_a_name_that_is_not_unicode_is_escaped(tmp_path: Path) -> None:
    try:
        path = write(tmp_path / os.fsdecode(b"a\xff.json"), GOOD)
    except OSError:
        pytest.skip("NOT RUN: this file system takes no such name")
    for form in ("json", "jsonl", "console"):
        code, out, _ = check(path, "--format", form)
        assert 0 == code
        assert "a\\xff.json" in out.replace("\\\\", "\\")


@every(
    "data",
    some(
        [gzip.compress(json.dumps(GOOD).encode()), json.dumps(GOOD).encode(), STREAM.encode()],
        name=lambda data: str(data[:8]),
    ),
)
def test_standard_input_is_read_like_a_file(data: bytes) -> None:
    command = [sys.executable, "-m", "conformance", "check", "-", "--format", "jsonl"]
    found = subprocess.run(command, env=ENVIRONMENT, input=data, capture_output=True, check=False)
    assert (0, b"") == (found.returncode, found.stderr)
    assert [] == json.loads(found.stdout)["outcomes"]


def test_the_provider_is_detected_by_name_or_host(tmp_path: Path) -> None:
    exchanges = [
        {**GOOD, "provider": "groq"},
        {**GOOD, "url": "https://api.deepseek.com/chat/completions"},
        {**GOOD, "provider": "a gateway", "url": "https://api.groq.com/openai/v1/chat/completions"},
        {**GOOD, "host": "api.groq.com"},
        {**GOOD, "provider": "nobody knows", "url": "https://localhost/v1"},
        GOOD,
    ]
    path = write(tmp_path / "a.jsonl", jsonl(*exchanges))
    shown = check(path, "--provider", "auto", "--format", "jsonl").inputs
    assert ["groq", "deepseek", "groq", "groq", None, None] == [each["provider"] for each in shown]


def test_the_claims_of_a_provider_decide_the_findings(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", BASES["thinking-session"])
    rule = ("--rule", "reasoning/not-sent-where-refused", "--format", "jsonl")
    assert [0, 1] == [check(path, *rule, "--provider", provider)[0] for provider in ("deepseek", "groq")]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["3", pytest.param("auto", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(
    "form", some(["json", "jsonl", "console", "junit", "sarif", "github"], mark=pytest.mark.exhaustive)
)
def test_the_number_of_processes_does_not_change_the_report(form: str, jobs: str, tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", jsonl(*[GOOD, FAULTY, "{", {**GOOD, "session": "s"}, {**FAULTY, "session": "s"}] * 8))
    write(tmp_path / "2.json", "[")
    write(tmp_path / "3.sse", STREAM)
    for number in range(4, 12):
        write(tmp_path / f"{number}.json", FAULTY)
    command = [sys.executable, "-m", "conformance", "check", str(tmp_path), str(tmp_path / "absent.jsonl"), "--all"]
    one, several = (
        subprocess.run([*command, "--format", form, "--jobs", each], env=ENVIRONMENT, capture_output=True, check=False)
        for each in ("1", jobs)
    )
    assert 2 == one.returncode == several.returncode
    assert one.stdout == several.stdout
    assert one.stderr == several.stderr


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_input(tmp_path: Path) -> None:
    code = "import sys, resource; from conformance.cli import main; main(['check', *sys.argv[1:]]); "
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    long = edit(GOOD, {"/request/messages/0/content": "word " * 1000})

    def peak(count: int, form: str) -> int:
        path = write(tmp_path / f"{count}.jsonl", jsonl(*[long] * count))
        command = [sys.executable, "-c", code, str(path), "--format", form]
        return int(subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True).stderr)

    for form in ("json", "jsonl"):
        assert peak(5000, form) - peak(200, form) < 4 * 1024, "25 MB more of input took 4 MB more of memory"


@pytest.mark.exhaustive
def test_every_chat_recording_is_judged_with_no_rule_broken(shared: Path) -> None:
    other_wires = ("anthropic_native", "gemini_native", "messages", "responses")
    files = sorted((shared / "recordings").glob("*.jsonl.gz"))
    files = [path for path in files if path.name.partition(".")[0] not in other_wires]
    assert files
    for provider in ("", "auto"):
        code, out, error = check(*files, "--provider", provider, "--format", "json")
        summary = json.loads(out)["summary"]
        assert (1, "") == (code, error)
        assert (0, 0) == (summary["errored"], summary["unreadable"])
        assert summary["exchanges"] >= summary["inputs"] > 1500


@pytest.mark.parametrize("name", ["console", "json", "jsonl", "junit", "sarif", "github"])
def test_a_finding_names_the_side_in_every_format(name: str, tmp_path: Path) -> None:
    _, out, _ = check(write(tmp_path / "faulty.json", FAULTY), "--format", name, "--rule", "transcript/result-*")
    said = {"json": '"side":"client"', "jsonl": '"side":"client"', "sarif": '"side": "client"'}
    assert said.get(name, "MUST (client") in out
