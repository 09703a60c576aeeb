"""Bug reports about adapters: complete, from results alone or from a run, and safe to paste."""

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import environments
from conformance.adapters import definition, install, plain_code
from conformance.adapters.definition import FOLDER
from conformance.adapters.issue import Issue, find
from conformance.adapters.plain_code import PlainCode
from conformance.adapters.proof import proofs
from conformance.cli import main
from conformance.errors import UnknownName, Unusable
from conformance.judge import check
from conformance.reporting.renderers.issue import render
from conformance.resources import folder
from conformance.results import Evidence, Finding, Level, Outcome, Refusal, Status
from conformance.results.files import read, write
from conformance.results.runs import Case, Results, SentRequest
from conformance.wire.exchange import Exchange
from tests.loops import every

ADAPTERS = folder("reports") / "results" / "adapters"
SECTIONS = ("Versions", "The scenario", "The request that shows it", "What ", "The rule", "To repeat it")
RULE = "reasoning/present-on-tool-turns"
HOSTILE = "</details><img src=x> ```` @everyone $(touch e)\n# head"


def broken() -> Iterator[tuple[Results, str]]:
    """Yield the results of each adapter that breaks a rule, and the first one."""
    for path in sorted(ADAPTERS.glob("*.deepseek.json")):
        results = read(path)
        rules = [each.rule for case in results.cases for each in case.outcomes if each.status is Status.FAILED]
        if rules:
            yield results, rules[0]


def example(model: str = "m", message: str = "expected a, got b") -> Results:
    refusal = Refusal(400, "no", "invalid_request_error")
    finding = Finding("/1/request/messages/1", message, Level.MUST, refusal, '{"role":"assistant"}', side="client")
    failed = Outcome(RULE, Status.FAILED, Level.MUST, 1, (finding,))
    cases = [
        Case("agent-session", "plain", Evidence.SIMULATED, (failed,)),
        Case("one-tool-call", "stream", Evidence.SIMULATED, (failed,)),
        Case("one-tool-call", "plain", Evidence.SIMULATED, (failed,)),
        Case("plain-answer", "plain", Evidence.SIMULATED, (Outcome(RULE, Status.PASSED, Level.MUST, 1),)),
    ]
    return Results("an-sdk@1.0", model, tuple(cases), "deepseek", {"an-sdk": "1.0"})


def test_the_report_of_each_adapter_has_all_that_its_maintainer_needs() -> None:
    found = list(broken())
    assert len(found) > 20
    for results, rule in found:
        page = render(find([results], results.subject, rule))
        assert (results.subject, []) == (results.subject, [each for each in SECTIONS if f"\n## {each}" not in page])
        assert f"conformance adapter run {results.subject} --install --provider deepseek" in page
        assert f"`{rule}`" in page
        assert 0 == page.count("```") % 2


def test_the_smallest_case_shows_it() -> None:
    issue = find([example()], "an-sdk", RULE)
    assert ("one-tool-call.plain", 3, 4) == (issue.case.name, len(issue.broken), issue.played)
    page = render(issue)
    assert "It answers HTTP 400:" in page
    assert "--scenario one-tool-call --variant plain --keep sessions" in page
    assert "`reasoning.omitted-on-tool-turn` is" in page


def test_a_profile_of_ones_own_is_named_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "gateway.yaml").write_text("extends: deepseek\ntitle: Our gateway\nkind: gateway\nclaims: {}\n")
    results = replace(example(), provider="gateway")
    assert "# an-sdk@1.0 on Our gateway: " in render(find([results], "an-sdk", RULE, str(tmp_path / "gateway.yaml")))
    with pytest.raises(UnknownName, match="unknown provider 'gateway'"):
        find([results], "an-sdk", RULE)


def test_the_whole_request_stands_in_the_report_if_the_results_hold_it() -> None:
    results = example()
    sent = SentRequest(1, "/v1/messages", {"model": "m", "messages": [{"role": "user", "content": HOSTILE}]})
    cases = [replace(each, requests=(sent,)) if each.name == "one-tool-call.plain" else each for each in results.cases]
    issue = find([replace(results, cases=tuple(cases))], "an-sdk", RULE)
    page = render(issue)
    assert "Request 2 of the session, `POST /v1/messages`; look at `/1/request/messages/1`:" in page
    body = re.search(r"(?ms)^(`{3,})json\n(\{\n  \"model\".*?)^\1$", page)
    assert body is not None
    assert sent.body == json.loads(body.group(2))
    assert "the commands below write the whole session" not in page
    assert "the commands below write the whole session" in render(find([results], "an-sdk", RULE))


def test_what_results_hold_stays_in_code() -> None:
    results = replace(example(HOSTILE, HOSTILE), versions={HOSTILE: HOSTILE})
    page = render(find([results], "an-sdk", RULE))
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", page))
    assert [] == [each for each in ("<img", "</details>", "@everyone", "$(", "\n# head") if each in outside]
    assert "--model '</details><img" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["an-sdk", "--rule", "no/such"], "unknown rule 'no/such'"),
        (["an-sdk@2", "--rule", RULE], "unknown adapter in these results 'an-sdk@2'; did you mean an-sdk@1.0"),
        (["an-sdk", "--version", "2", "--rule", RULE], "unknown adapter in these results 'an-sdk@2'"),
        (["an-sdk", "--rule", RULE, "--provider", "groq"], "unknown provider of an-sdk in these results 'groq'"),
        (["an-sdk", "--rule", "shape/message"], f"breaks no shape/message in these results; it breaks {RULE}"),
    ],
)
def test_an_unusable_call_says_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    write(tmp_path, example())
    assert 2 == main(["adapter", "issue", *arguments, "--results", str(tmp_path)])
    assert words in capsys.readouterr().err


def test_a_driver_that_fails_is_not_taken_for_an_adapter_that_keeps_the_rule() -> None:
    crashed = Outcome("loop/every-prompt-answered", Status.ERRORED, Level.MUST, reason="the driver exited with 1")
    results = replace(example(), cases=(Case("plain-answer", "plain", Evidence.SIMULATED, (crashed,)),))
    with pytest.raises(Unusable, match="of its checks 1 errored, the first with: the driver exited with 1"):
        find([results], "an-sdk", RULE)


@pytest.mark.slow
def test_the_command_reports_from_the_results_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    results, rule = next(broken())
    adapter = results.subject
    assert 0 == main(["adapter", "issue", adapter, "--rule", rule, "--provider", "deepseek"])
    assert capsys.readouterr().out.startswith(f"# {adapter} on DeepSeek: not met: ")


WITH_PLAIN_CODE = tuple(sorted({path.parent.name for path in FOLDER.glob("*/plain.*.txt")}))


def with_plain_code(name: str) -> tuple[Issue, PlainCode]:
    """Return the first issue of an adapter that plain code repeats."""
    pinned = definition.load(name)
    many = [read(path) for path in ADAPTERS.glob(f"{name}@{pinned.version}.*.json")]
    for rule in sorted({rule for each in many for rule in proofs(each.cases) if not rule.startswith("loop/")}):
        issue = find(many, name, rule)
        code = plain_code.of_issue(issue)
        if code is not None and issue.number:
            return issue, code
    raise AssertionError(name)


@every("name", WITH_PLAIN_CODE)
def test_plain_code_is_short_and_has_nothing_of_this_project(name: str) -> None:
    _, code = with_plain_code(name)
    assert 20 >= len([line for line in code.program.splitlines() if line.strip()])
    assert 30 >= len([line for line in code.server.splitlines() if line.strip()])
    assert "conformance" not in code.program + code.server
    assert "$" not in code.program


def test_a_must_is_stronger_evidence_than_a_smaller_should() -> None:
    small, large = example().cases[2], example().cases[0]
    (outcome,) = small.outcomes
    weak = replace(outcome, level=Level.SHOULD, findings=(replace(outcome.findings[0], level=Level.SHOULD),))
    results = replace(example(), cases=(replace(small, outcomes=(weak,)), large))
    assert ("agent-session.plain", Level.MUST) == (find([results], "an-sdk", RULE).case.name, Level.MUST)
    only = find([replace(results, cases=results.cases[:1])], "an-sdk", RULE)
    assert f"`{RULE}` (SHOULD here, MUST in general)" in render(only)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", WITH_PLAIN_CODE)
def test_plain_code_shows_the_bug_to_any_server(name: str, tmp_path: Path) -> None:
    chosen = definition.load(name)
    if not install.is_installed(chosen):
        pytest.skip(f"NOT RUN: conformance adapter install {name}")
    issue, code = with_plain_code(name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = install.environment_path(chosen)
    program = (where if code.name.endswith(".mjs") else tmp_path) / f"{tmp_path.name}-{code.name}"
    program.write_text(code.program.replace(f":{plain_code.PORT}", f":{port}"), "utf-8")
    (tmp_path / "server.py").write_text(code.server.replace(f"{plain_code.PORT}", f"{port}"), "utf-8")
    command = ["node"] if code.name.endswith(".mjs") else [str(environments.python_in(where))]
    with subprocess.Popen([sys.executable, tmp_path / "server.py"], stdout=subprocess.PIPE, text=True) as server:
        try:
            time.sleep(1)
            subprocess.run([*command, str(program)], check=False, capture_output=True, timeout=120, cwd=tmp_path)
        finally:
            server.terminate()
            program.unlink()
        printed = server.stdout.read().splitlines() if server.stdout else []
    model = issue.results.model
    sent = zip(map(json.loads, printed), [*plain_code.replies(issue), None], strict=False)
    path = issue.proof.request.path if issue.proof.request else "/v1/chat/completions"
    conversation = tuple([Exchange(request=each, response=reply, model=model, url=path) for each, reply in sent])
    failed = [each for each in check(conversation, issue.profile) if each.status is Status.FAILED]
    places = [finding.at for each in failed if each.rule == issue.rule.id for finding in each.findings]
    assert [] != [each for each in places if each.startswith(f"/{issue.number - 1}/request")], printed
