"""The provider of an input is recognised by its log, its host or its replies, and the report says so."""

import json
from pathlib import Path
from typing import Any

from conformance import Exchange, profiles, rules
from conformance.files.by_model import RefusedByHosts, Served, as_outcomes, judge_by_model
from conformance.files.recognition import Recognition, contradiction, recognise, shared
from conformance.formats import Input
from conformance.profiles import UNKNOWN
from conformance.resources import folder
from conformance.results import Finding, Level, Refusal
from tests.checking import BASES, FAULTY, GOOD, check, write
from tests.loops import every

BY_HOST, BY_LOG, BY_REPLIES = "by its host", "as its log says", "by its replies"
LOST = folder("docs") / "examples" / "lost-reasoning.json"
CHAT: dict[str, Any] = {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop"}]}
MESSAGE: dict[str, Any] = {"id": "x", "type": "message", "role": "assistant", "content": []}
TURN = {"choices": [{"index": 0, "message": {"tool_calls": [{"id": "call_00_abcdefghijklmnopqrst"}]}}]}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}}]}


def given(provider: str = "", **exchange: Any) -> Input:
    return Input("a.json", None, "exchange", (Exchange(**exchange),), provider)


@every(
    ("url", "expected"),
    [
        ("https://api.deepseek.com/chat/completions", "deepseek"),
        ("https://API.DeepSeek.com/v1/chat/completions", "deepseek"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("https://my.openai.azure.com/openai/v1/chat/completions", "azure_openai"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://api.anthropic.com/v1/chat/completions", "anthropic_openai_compat"),
        ("http://localhost:11434/v1/chat/completions", "ollama"),
    ],
)
def test_a_host_identifies_its_provider(url: str, expected: str) -> None:
    assert Recognition((expected,), BY_HOST) == recognise(given(url=url, request={"messages": []}))


@every(
    ("name", "expected"),
    [
        ("deepseek", "deepseek"),
        ("moonshotai", "moonshot"),
        ("azure.ai.openai", "azure_openai"),
        ("azure.ai.inference", "azure_foundry"),
        ("gcp.gemini", "gemini_openai_compat"),
        ("x_ai", "xai"),
        ("mistral_ai", "mistral"),
        ("fireworks_ai", "fireworks"),
        ("together_ai", "together"),
        ("nvidia_nim", "nvidia"),
        ("openai.chat", "openai"),
        ("vercel_ai_gateway", "vercel_gateway"),
        ("claude", "anthropic_openai_compat"),
    ],
)
def test_a_log_names_its_provider_in_the_words_of_its_tool(name: str, expected: str) -> None:
    assert Recognition((expected,), BY_LOG) == recognise(given(name, request={"messages": []}))


@every(
    ("reply", "expected"),
    [
        (CHAT | {"x_groq": {"id": "req_1"}}, ("groq",)),
        (CHAT | {"id": "gen-1780000000-abcdefghijABCDEFGHIJ", "provider": "Novita"}, ("openrouter",)),
        (CHAT | {"system_fingerprint": "fp_ollama"}, ("ollama", "ollama_cloud")),
        (CHAT | {"id": "gen_01ABCDEFGHJKMNPQRSTVWXYZ23", "generationId": "gen_01ABC"}, ("vercel_gateway",)),
        (CHAT | TURN, ("deepseek",)),
        (CHAT | {"time_info": {"queue_time": 0.1}}, ("cerebras",)),
        (CHAT | {"prompt_filter_results": []}, ("azure_foundry", "azure_openai", "github_copilot")),
        (MESSAGE | {"id": "msg_01abcdefghijklmnopqrstuv"}, ("anthropic",)),
        (MESSAGE | {"id": "msg_bdrk_01abcdefghij"}, ("bedrock",)),
        (GEMINI | {"responseId": "a", "modelVersion": "b", "createTime": "c"}, ("vertex",)),
        (CHAT, ()),
        ({"error": {"message": "no"}, "request_id": "1"}, ()),
    ],
)
def test_signs_in_a_reply_identify_its_provider(reply: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert expected == recognise(given(response=reply)).providers


@every(
    ("header", "expected"),
    [
        ("x-groq-region", ("groq",)),
        ("x-ds-trace-id", ("deepseek",)),
        ("apim-request-id", ("azure_foundry", "azure_openai")),
        ("msh-request-id", ("moonshot",)),
        ("x-litellm-model-id", ("litellm",)),
        ("nvcf-reqid", ("nvidia",)),
        ("cf-ray", ()),
        ("x-request-id", ()),
    ],
)
def test_headers_that_one_host_sends_identify_it(header: str, expected: tuple[str, ...]) -> None:
    assert expected == recognise(given(response=CHAT, headers={header: "1"})).providers


def test_signs_are_found_at_both_ends_of_a_stream() -> None:
    text = 'data: {"id": "x", "choices": []}\n\n' * 3 + 'data: {"id": "x", "x_groq": {"usage": {}}}\n\ndata: [DONE]\n\n'

    assert Recognition(("groq",), BY_REPLIES) == recognise(given(response=text))


def test_a_host_that_no_profile_knows_is_not_recognised_by_what_it_passes_on() -> None:
    seen = recognise(given(url="https://gateway.example/v1/chat/completions", response=CHAT | TURN))

    assert Recognition(host="gateway.example") == seen


def test_a_request_to_a_host_that_no_profile_knows_is_not_judged_by_other_hosts(tmp_path: Path) -> None:
    url = "https://gateway.example/v1/chat/completions"
    body = json.loads(LOST.read_text("utf-8"))
    code, out, _ = check(write(tmp_path / "a.json", {"url": url, "request": body, "response": None}))

    assert 0 == code
    assert "known to serve" not in out


def test_a_request_that_was_answered_is_only_a_may(tmp_path: Path) -> None:
    body = json.loads(LOST.read_text("utf-8"))
    reply = {**BASES["plain"][0]["response"], "created": 1_794_000_000}
    code, out, _ = check(write(tmp_path / "a.json", {"request": body, "status": 200, "response": reply}))

    assert 0 == code
    assert "reasoning/present-on-tool-turns MAY (client)" in out


def test_two_providers_are_judged_by_what_both_claim() -> None:
    both = shared(("deepseek", "siliconflow"), (Exchange(request={"model": "deepseek-v4-flash"}),))
    single = [profiles.load(name).at("deepseek-v4-flash") for name in ("deepseek", "siliconflow")]
    equal = {name for name in set(single[0]) | set(single[1]) if single[0].get(name) == single[1].get(name)}

    assert "deepseek or siliconflow" == both.name
    assert equal
    assert {name: value for name, value in single[0].items() if name in equal} == {
        name: value for name, value in both.at().items() if name in equal
    }
    assert {UNKNOWN} == {value for name, value in both.at().items() if name not in equal}


def test_a_provider_that_contradicts_the_host_is_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {**GOOD, "url": "https://api.groq.com/openai/v1/chat/completions"})
    _, out, _ = check(path, "--provider", "deepseek")

    assert "    warning: api.groq.com is the host of groq, and not of deepseek, which --provider names\n" in out
    assert "warning" not in check(path, "--provider", "groq")[1]


def test_an_engine_and_a_profile_of_the_host_contradict_nothing() -> None:
    url = "http://localhost:11434/v1/chat/completions"

    assert "" == contradiction(given(url=url), profiles.load("vllm"))
    assert "" == contradiction(given(url="https://api.anthropic.com/v1/messages"), profiles.load("anthropic"))


def test_the_first_line_says_what_was_recognised_and_how_to_turn_it_off(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {**GOOD, "url": "https://api.deepseek.com/chat/completions"})
    _, out, _ = check(path)

    how = "by its host; --provider none checks the canonical wire alone"
    assert f"{path}: an exchange (chat), checked against deepseek, {how}" == out.splitlines()[0]


def test_the_report_names_wire_and_provider(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {**GOOD, "url": "https://api.deepseek.com/chat/completions"})
    (report,) = check(path, "--format", "jsonl").inputs

    assert ("chat", "deepseek") == (report["protocol"], report["provider"])
    assert {"providers": ["deepseek"], "by": BY_HOST} == report["recognised"]


def test_a_request_is_judged_by_the_hosts_that_serve_its_model() -> None:
    code, out, _ = check(LOST)

    assert 1 == code
    assert "    deepseek-v4-flash: refused by 4 of the 12 hosts known to serve it\n" in out
    assert "reasoning/present-on-tool-turns SHOULD (client) at /0/request/messages/1: expected" in out
    assert "    deepseek answers 400: The `reasoning_content` in the thinking mode must be passed back" in out
    assert 0 == check(LOST, "--provider", "none")[0]


def test_a_request_that_every_host_accepts_has_no_finding() -> None:
    found = judge_by_model((Exchange(request={"model": "deepseek-v4-flash", "messages": []}),), rules.load())

    assert found is not None
    assert () == found.refusing
    assert f"deepseek-v4-flash: refused by none of the {len(found.hosts)} hosts known to serve it" == found.line


@every(
    ("refusing", "vendor", "expected"),
    [(("a",), "a", "SHOULD"), (("b",), "a", "MAY"), (("b", "c"), "a", "SHOULD"), (("b",), "", "MAY")],
)
def test_what_the_vendor_or_most_hosts_refuse_is_a_should(
    refusing: tuple[str, ...], vendor: str, expected: str
) -> None:
    finding = Finding("/0/request", "expected x, got y", Level.MUST, Refusal(400, "no"), side="client")
    refused = RefusedByHosts("messages/x", dict.fromkeys(refusing, finding))
    (outcome,) = as_outcomes(Served("m", vendor, ("a", "b", "c"), (refused,)), [])

    assert expected == outcome["findings"][0]["level"]
    assert [{"provider": each, "status": 400, "message": "no"} for each in refusing] == outcome["findings"][0]["hosts"]


def test_a_finding_of_the_canonical_wire_names_the_hosts_that_refuse_it() -> None:
    finding = Finding("/0/request", "expected x, got y", Level.MUST, Refusal(400), side="client")
    known = [{"rule": "messages/x", "findings": [{"at": "/0/request"}]}]

    assert [] == as_outcomes(Served("m", "a", ("a",), (RefusedByHosts("messages/x", {"a": finding}),)), known)
    assert [{"at": "/0/request", "hosts": [{"provider": "a", "status": 400}]}] == known[0]["findings"]


def test_every_format_names_the_wire(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", FAULTY)
    shown = {name: check("--provider", "none", "--format", name, path)[1] for name in ("sarif", "junit", "github")}

    assert "chat" == json.loads(shown["sarif"])["runs"][0]["results"][0]["properties"]["protocol"]
    assert '<property name="protocol" value="chat" />' in shown["junit"]
    assert "MUST (client on chat)" in shown["github"]
