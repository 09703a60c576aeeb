"""The requests that results keep: one for each broken rule, whole, the same in every run, and bounded."""

import sys
from pathlib import Path

import pytest

from conformance.adapters.proof import MAX_DEPTH, MAX_REQUEST, proofs, with_requests
from conformance.cli import main
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.files import read, write
from conformance.results.runs import Case, Results, SentRequest
from conformance.wire.exchange import Exchange

BROKEN_CLIENT = Path(__file__).with_name("broken_client.py")
FIRST, SECOND = "shape/message", "transcript/history-append-only"
URL = "http://127.0.0.1:8000/r/7/s/one-tool-call/v1/chat/completions"


def failing(scenario: str, variant: str, rule: str, *at: str, level: Level = Level.MUST) -> Case:
    findings = tuple([Finding(each, "expected a, got b", level) for each in at])
    return Case(scenario, variant, Evidence.SIMULATED, (Outcome(rule, Status.FAILED, level, 1, findings),))


def sent(text: str = "Hello.", call_id: str = "call_0") -> Exchange:
    call = {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": call_id, "content": text}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}, result]
    return Exchange(request={"model": "m", "messages": messages}, url=URL)


def test_each_rule_has_one_request_that_of_its_smallest_case() -> None:
    long = failing("agent-session", "plain", FIRST, "/0/request")
    streamed = failing("one-tool-call", "stream", FIRST, "/1/request")
    plain = failing("one-tool-call", "plain", FIRST, "/1/request/messages/0", "/2/request/messages/0")
    other = failing("agent-session", "stream", SECOND, "/2/request")
    cases = (long, streamed, plain, other)
    kept = with_requests(cases, {each.name: (sent("a"), sent("b"), sent("c")) for each in cases})
    found = {case.name: [(each.exchange, each.path) for each in case.requests] for case in kept}
    path = "/v1/chat/completions"
    assert {long.name: [], streamed.name: [], plain.name: [(1, path)], other.name: [(2, path)]} == found
    assert {FIRST: "b", SECOND: "c"} == {
        rule: each.request.body["messages"][-1]["content"] for rule, each in proofs(kept).items() if each.request
    }


@pytest.mark.parametrize("at", ["", "/7/request", "/x"])
def test_a_finding_about_no_exchange_has_no_request(at: str) -> None:
    case = failing("one-tool-call", "plain", FIRST, at)
    assert (case,) == with_requests((case,), {case.name: (sent(),)})
    assert proofs((case,))[FIRST].request is None


def test_what_only_may_be_done_keeps_no_request() -> None:
    case = failing("one-tool-call", "plain", FIRST, "/0/request", level=Level.MAY)
    assert (case,) == with_requests((case,), {case.name: (sent(),)})


def test_a_request_that_is_too_long_is_left_out() -> None:
    case = failing("one-tool-call", "plain", FIRST, "/0/request")
    (short,) = with_requests((case,), {case.name: (sent("x" * (MAX_REQUEST - 400)),)})
    assert 1 == len(short.requests)
    assert (case,) == with_requests((case,), {case.name: (sent("x" * MAX_REQUEST),)})


@pytest.mark.parametrize(("depth", "kept"), [(MAX_DEPTH - 3, 1), (MAX_DEPTH - 2, 0), (250, 0)])
def test_a_request_that_is_nested_too_deep_is_left_out(tmp_path: Path, depth: int, kept: int) -> None:
    case = failing("one-tool-call", "plain", FIRST, "/0/request")
    body = parse_json(f'{{"messages":[{{"role":"user","content":{"[" * depth}{"]" * depth}}}]}}')
    found = with_requests((case,), {case.name: (Exchange(request=body, url=URL),)})
    assert kept == len(found[0].requests)
    results = Results("an-sdk@1.0", "m", found, "deepseek")
    assert results == read(write(tmp_path, results))


def test_what_changes_from_run_to_run_is_replaced() -> None:
    case = failing("one-tool-call", "plain", FIRST, "/0/request")
    text = f'File "{Path(__file__)}", line 3: "{URL}" failed with 0xdeadbeef'
    (kept,) = with_requests((case,), {case.name: (sent(text, "call_9f8e7d"),)})
    calling, message = kept.requests[0].body["messages"]
    assert "(id 1 of the client's own)" == message["tool_call_id"] == calling["tool_calls"][0]["id"]
    assert 'File "…/test_adapter_proof.py", line 3: "http://127.0.0.1/s/one-tool-call' in message["content"]
    assert message["content"].endswith("failed with 0x…")


def test_requests_are_read_as_they_were_written(tmp_path: Path) -> None:
    case = failing("one-tool-call", "plain", FIRST, "/0/request")
    kept = with_requests((case,), {case.name: (sent('a "quote", \u2028 and an emoji: \U0001f600'),)})
    results = Results("an-sdk@1.0", "m", kept, "deepseek")
    assert results == read(write(tmp_path, results))


def test_a_request_of_another_shape_is_rejected(tmp_path: Path) -> None:
    case = Case("one-tool-call", "plain", Evidence.SIMULATED, requests=(SentRequest(-1, "/", {}),))
    with pytest.raises(InvalidDocument, match="/cases/0/requests/0/exchange"):
        read(write(tmp_path, Results("an-sdk@1.0", "m", (case,), "deepseek")))


@pytest.mark.parametrize("variant", ["plain", "stream"])
def test_a_run_keeps_the_request_that_the_client_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], variant: str
) -> None:
    driver = f"{sys.executable} {BROKEN_CLIENT} drops-reasoning"
    arguments = ["--provider", "deepseek", "--scenario", "one-tool-call", "--variant", variant]
    assert 1 == main(["adapter", "run", "--driver", driver, *arguments, "--results", str(tmp_path)])
    capsys.readouterr()
    rule = "reasoning/present-on-tool-turns"
    assert 0 == main(["adapter", "issue", "driver", "--rule", rule, "--results", str(tmp_path)])
    page = capsys.readouterr().out
    assert "Request 2 of the session, `POST /v1/chat/completions`; look at `/1/request/messages/" in page
    assert '"role": "tool"' in page
    assert "reasoning_content" not in page.partition("## The request that shows it")[2].partition("\n## ")[0]
