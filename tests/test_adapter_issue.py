"""Bug reports about adapters: complete, from results alone or from a run, and safe to paste."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.adapters.issue import find
from conformance.cli import main
from conformance.errors import UnknownName, Unusable
from conformance.reporting.renderers.issue import render
from conformance.resources import folder
from conformance.results import Evidence, Finding, Level, Outcome, Refusal, Status
from conformance.results.files import read, write
from conformance.results.runs import Case, Results, SentRequest
from tests.loops import every

ADAPTERS = folder("reports") / "results" / "adapters"
SECTIONS = ("Versions", "The smallest scenario", "The request that shows it", "What ", "The rule", "To repeat it")
RULE = "reasoning/present-on-tool-turns"
HOSTILE = "</details><img src=x> ```` @everyone $(touch e)\n# head"


def broken() -> Mapping[str, str]:
    """Return the first rule that each adapter breaks, by the name of its results."""
    found: dict[str, str] = {}
    for path in sorted(ADAPTERS.glob("*.deepseek.json")):
        results = read(path)
        rules = [each.rule for case in results.cases for each in case.outcomes if each.status is Status.FAILED]
        if rules:
            found[path.name] = rules[0]
    return found


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


@every(("name", "rule"), broken().items(), ids=lambda each: each)
def test_the_report_of_each_adapter_has_all_that_its_maintainer_needs(name: str, rule: str) -> None:
    results = read(ADAPTERS / name)
    page = render(find([results], results.subject, rule))
    assert [] == [each for each in SECTIONS if f"\n## {each}" not in page]
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
    name, rule = next(iter(broken().items()))
    adapter = name.removesuffix(".deepseek.json")
    assert 0 == main(["adapter", "issue", adapter, "--rule", rule, "--provider", "deepseek"])
    assert capsys.readouterr().out.startswith(f"# {adapter} on DeepSeek: not met: ")
