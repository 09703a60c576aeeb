"""Error texts: what is known of them is explained, whatever wraps, cuts or varies it, and nothing else is."""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import Exchange, profiles, rules
from conformance.adapters import definition
from conformance.cli import main
from conformance.error_texts import CauseSide, Explanation, causes, explain
from conformance.error_texts.causes import by_claim
from conformance.error_texts.fields import cause_by_field
from conformance.error_texts.index import TextIndex, known_texts
from conformance.error_texts.sayings import Saying, claims_of, of_files, of_profiles, read, refusals_of
from conformance.error_texts.signs import likely_cause, signs
from conformance.error_texts.unwrapping import codes_in, said, status_in
from conformance.error_texts.words import GAP, HOLE, MAX_CHARACTERS, words
from conformance.errors import InvalidDocument
from conformance.judge import check
from conformance.profiles import Profile, of
from conformance.results import Finding
from conformance.rules import Example
from tests.checking import check as run_check
from tests.checking import write
from tests.loops import every

FACTS = Path(__file__).parents[2] / "shared" / "facts" / "errors.yaml"
GIVEN = yaml.safe_load(Path(__file__).with_name("error_variants.yaml").read_text("utf-8"))
RULE = rules.by_id()["error/request-accepted"]
MISSING = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
PASSED_BACK = "The reasoning_content in the thinking mode must be passed back to the API."
EXPECTED_THINKING = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
OPEN = [{"role": "user", "content": "?"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]


@pytest.fixture(scope="module")
def facts() -> list[dict[str, Any]]:
    if not FACTS.is_file():
        pytest.skip("NOT RUN: the error texts of ../shared are absent, so nothing here was compared with them")
    found: list[dict[str, Any]] = yaml.safe_load(FACTS.read_text("utf-8"))
    return found


def cause(text: object) -> str | None:
    found = explain(text)
    return None if found is None else found.cause.id


def test_at_least_95_percent_of_the_texts_are_explained_with_cause_and_side(facts: list[dict[str, Any]]) -> None:
    found = [(each, explain(each["text"], each["status"])) for each in facts]
    right = [each for each, one in found if one is not None and each["cause"] in [held.id for held in one.causes]]
    first = [each for each, one in found if one is not None and each["cause"] == one.cause.id and one.cause.side]
    assert 221 == len(facts)
    assert len(right) >= len(first) >= 0.95 * len(facts)


def test_texts_and_sources_are_those_of_the_facts(facts: list[dict[str, Any]]) -> None:
    known = {each["text"]: each for each in facts}
    copied = [each for each in of_files() if each.text in known]
    assert len(copied) > 100
    for each in copied:
        fact = known[each.text]
        source = (fact["source"],) if fact["source"].startswith("https://") else ()
        assert (source, fact["date"] or "", fact["cause"]) == (each.sources, each.date, each.cause)


@every(("expected", "text"), [(each["cause"], each["text"]) for each in GIVEN["variants"]])
def test_a_text_that_is_cut_wrapped_or_varied_has_its_cause(expected: str, text: str) -> None:
    assert expected == cause(text)


@every(("expected", "text"), [(each["cause"], each["text"]) for each in GIVEN["likely"]])
def test_a_text_that_no_host_is_known_to_say_has_the_cause_that_its_words_say(expected: str, text: str) -> None:
    found = explain(text)
    assert found is not None
    assert (expected, (), True) == (found.cause.id, found.sayings, found.is_likely)


@pytest.mark.slow
@every(("expected", "text"), [(each["cause"], each["text"]) for each in GIVEN["refused"]])
def test_the_plain_words_of_a_refusal_say_its_cause(expected: str, text: str) -> None:
    found = explain(text, 400)
    assert found is not None
    assert (expected, True) == (found.cause.id, found.is_likely)


def test_what_is_an_error_by_its_status_need_not_look_like_one() -> None:
    for expected, text in (
        ("roles.first", "conversation has to open with the user"),
        ("request.too-long", "history of 300112 tokens will not fit a window of 200000"),
        ("account.out-of-credit", "wallet is empty, top up to continue"),
    ):
        assert explain(text) is None
        found = explain(text, 400)
        assert found is not None
        assert expected == found.cause.id


@pytest.mark.parametrize("one_in", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_the_words_alone_say_the_cause_of_most_known_texts(one_in: int) -> None:
    known = (*of_profiles(), *of_files())[::one_in]
    said_of = [(each.cause, cause_by_field(each.text, likely_cause(each.text))) for each in known]
    spoken = [expected == got for expected, got in said_of if got]
    # What is left are mostly texts that several causes share.
    assert len(spoken) > 0.6 * len(said_of)
    assert sum(spoken) > 0.8 * len(spoken)


def test_a_cause_by_its_words_alone_is_said_to_be_one_and_is_no_must(capsys: pytest.CaptureFixture[str]) -> None:
    text = "The flux of this deployment does not support image input"
    capsys.readouterr()
    assert 0 == main(["explain", text])
    assert "no host is known to say this text; the cause is what its words say" in capsys.readouterr().out
    finding = refusal(text, None)
    assert ("SHOULD", "client") == (finding.level.value, finding.side)
    assert "Cause: content.image-unsupported by its words, no known text; side: client." in finding.message


@every("text", GIVEN["look_alikes"])
def test_a_text_that_only_looks_alike_is_not_explained(text: str) -> None:
    assert explain(text) is None


def test_an_error_text_stands_once() -> None:
    of_claims = TextIndex(of_profiles())
    assert [] == [
        (each.text, found[0].saying.host)
        for each in of_files()
        if (found := of_claims.find(each.text)) and not found[0].is_part and found[0].saying.cause == each.cause
    ]
    texts = [each.text for each in of_files()]
    assert sorted(set(texts)) == sorted(texts)


@every("saying", of_files(), ids=lambda saying: saying.text)
def test_each_text_of_a_file_is_found(saying: Saying) -> None:
    assert saying in [each.saying for each in known_texts().find(saying.text)]


def test_every_claim_with_a_refusal_has_a_cause_and_every_cause_is_used() -> None:
    every_profile = [each for name in profiles.names() for each in _wires(profiles.load_profile(name))]
    held = {claim.name for each in every_profile for claim, _ in claims_of(each) if list(refusals_of(claim.value))}
    assert set() == held - set(by_claim())
    used = {each.cause for each in (*of_profiles(), *of_files())} | {each.cause for each in signs()}
    assert set() == {name for name, each in causes().items() if name not in used and not (each.codes or each.statuses)}


def _wires(profile: Profile) -> tuple[Profile, ...]:
    return (profile, *profile.protocols.values())


def test_every_rule_that_a_cause_names_is_about_requests() -> None:
    ids = [each.id for each in rules.load() if each.on.side.value == "client"]
    globs = [(name, glob) for name, each in causes().items() for glob in each.rules]
    assert [] == [(name, glob) for name, glob in globs if not any(fnmatchcase(rule, glob) for rule in ids)]


def test_a_status_or_a_code_explains_what_no_text_does() -> None:
    assert "account.rate-limited" == cause("HTTP/1.1 429 Too Many Requests")
    assert "account.out-of-credit" == cause('{"error": {"message": "No.", "code": "insufficient_quota"}}')
    assert CauseSide.PROVIDER == causes()["model.busy"].side
    assert explain("<html>", 400) is None


def test_a_known_text_wins_over_the_status_that_a_gateway_makes_of_it() -> None:
    found = explain('429 All accounts exhausted. Last error: HTTP 400: {"message": "Corrupted thought signature."}')
    assert found is not None
    assert ("reasoning.signature", 429) == (found.cause.id, found.status)


def test_the_host_that_is_asked_about_comes_first() -> None:
    text = "Thinking may not be enabled when tool_choice forces tool use."
    assert "anthropic" == _hosts(explain(text, provider="anthropic"))[0]
    assert {"deepseek", "openrouter"} <= set(_hosts(explain(PASSED_BACK)))


def _hosts(found: Explanation | None) -> tuple[str, ...]:
    return () if found is None else found.hosts


@every(
    ("expected", "text"),
    [
        (("messages", HOLE, "content", HOLE), "messages.3.content[11]"),
        (("model", HOLE, "is", "gone"), "Model grok-code-fast-1 is gone"),
        (("id", HOLE, GAP), "id fc_…"),
        (("it", "s", "a", "text"), '"it\\\\\\"s\\\\n a text"'),
        (("see", HOLE), "see https://example.org/a?b=c"),
        (("messages", "参数非法", "请检查文档"), "messages 参数非法。请检查文档。"),
    ],
)
def test_words_are_what_texts_have_in_common(expected: tuple[str, ...], text: str) -> None:
    assert tuple(each for each in expected if each != GAP) == tuple(each for each in words(text).words if each != GAP)


def test_of_a_huge_text_both_ends_are_read() -> None:
    text = f"first {'x ' * 10 * MAX_CHARACTERS}\n{MISSING}"
    assert len(words(text).words) <= 2 * MAX_CHARACTERS + 3
    assert "results.missing" == cause(text)


@every("part", ["messages.", "'", "tool ", "{", "\\", "… ", "[[", "Error code: 400 - {'a': "])
def test_hostile_texts_are_read_to_their_end(part: str) -> None:
    text = part * (40_000 // len(part))
    assert isinstance(said(text), str)
    explain(text)


@every(
    ("expected", "text"),
    [(400, "Error code: 400 - x"), (529, "HTTP/1.1 529"), (429, "status_code=429"), (None, "room 404"), (503, "503 x")],
)
def test_a_status_is_read_where_a_text_names_one(expected: int | None, text: str) -> None:
    assert expected == status_in(text)


def test_codes_are_read_from_json_python_and_exceptions() -> None:
    assert {"rate_limit_error", "x_y"} <= codes_in("{'type': 'rate_limit_error', \"code\": \"x_y\"}")
    assert {"throttlingexception"} == codes_in("(ThrottlingException) when calling")


@every(
    ("message", "text"),
    [
        ("unknown cause 'no.such'", "host: x\ntexts:\n- {cause: no.such, wire: chat, text: a b}\n"),
        ("expected a host here, because the file has none", "texts:\n- {cause: ids.empty, wire: chat, text: a b}\n"),
    ],
)
def test_a_broken_file_is_named_with_line_and_pointer(message: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(InvalidDocument, match=message) as raised:
        read(path)
    assert (str(path), True) == (raised.value.file, str(raised.value.pointer).startswith("/texts/0"))


def found(example: Example) -> list[Finding]:
    (outcome,) = check(example.conversation(), of(example.claims) if example.claims else None, [RULE])
    return list(outcome.findings)


@every("example", RULE.bad)
def test_a_refused_request_is_a_finding(example: Example) -> None:
    assert 1 == len(found(example))


@every("example", RULE.good)
def test_an_answered_request_is_none(example: Example) -> None:
    assert [] == found(example)


def refusal(text: str, profile: str | None, **members: Any) -> Finding:
    exchange = Exchange({"model": "gpt-5", "messages": OPEN}, {"error": {"message": text}}, members.get("status", 400))
    (outcome,) = check(exchange, profile, [RULE])
    return outcome.findings[0]


@every("profile", [None, "openai", "deepseek"])
def test_a_refusal_is_found_at_its_place_in_the_request_with_its_side_and_fix(profile: str | None) -> None:
    finding = refusal(MISSING, profile)
    assert ("/0/request/messages/1/tool_calls/0", "MUST", "client") == (finding.at, finding.level.value, finding.side)
    assert "A tool call has no result right after the message that makes it." in finding.message
    assert "To fix it: Send one result for every call of the turn" in finding.message


def test_a_refusal_that_no_rule_explains_is_a_finding_of_its_own_with_the_text() -> None:
    finding = refusal("The moon is in the wrong house.", None)
    assert ("/0/response", "SHOULD") == (finding.at, finding.level.value)
    assert "the provider refused this and no rule explains it: status 400, “The moon is in the wrong house.”" == (
        finding.message
    )


def test_suites_do_not_judge_what_they_provoke() -> None:
    assert RULE not in rules.load()
    assert {RULE} == set(rules.of_traffic()) - set(rules.load())


def test_profiles_with_refusals_are_all_read() -> None:
    assert {each.host for each in of_profiles()} <= set(profiles.names())


def test_a_file_that_holds_the_error_never_ends_without_findings(tmp_path: Path) -> None:
    body = {"model": "gpt-5", "messages": OPEN}
    answers: list[tuple[str, dict[str, Any]]] = [
        ("error/request-accepted MUST (client)", {"response": {"error": {"message": MISSING}}, "status": 400}),
        (
            "no rule explains it: status 418, “A teapot.”",
            {"response": {"error": {"message": "A teapot."}}, "status": 418},
        ),
        ("account.rate-limited", {"response": {"error": {"message": "Slow down."}}, "status": 429}),
        ("no rule explains it: “Gone.”", {"response": {"error": {"message": "Gone."}}, "status": 200}),
        ("model.busy", {"response": "", "status": 503}),
        (
            "tools.malformed-output",
            {"response": 'data: {"error": {"message": "Failed to call a function. Please adjust your prompt."}}\n\n'},
        ),
    ]
    for number, (expected, answer) in enumerate(answers):
        code, out, _ = run_check(write(tmp_path / f"{number}.jsonl", {"request": body, **answer}))
        assert (1, True) == (code, expected in out), out


@every(
    ("expected", "name"),
    [
        ("reasoning.omitted", "400 … must be passed back"),
        ("said by  deepseek", PASSED_BACK),
        ("crewai-anthropic@1.15.30, open", EXPECTED_THINKING),
        ("client: the request has to change", json.dumps({"error": {"message": MISSING}})),
        ("account.rate-limited", "HTTP/1.1 429 Too Many Requests"),
    ],
)
def test_a_pasted_error_is_explained(expected: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert 0 == main(["explain", name])
    assert expected in capsys.readouterr().out


@every(
    ("hosts", "cause", "name"),
    [
        ("gemini, gemini_openai_compat, vertex", "results.name-missing", "Request contains an invalid argument."),
        (
            "gemini, gemini_openai_compat, vertex",
            "results.name-missing",
            json.dumps({"error": {"code": 400, "message": "Request contains an invalid argument."}}),
        ),
        ("azure_foundry, azure_openai", "reasoning.field-refused", "Extra inputs are not permitted"),
        ("azure_foundry, azure_openai", "messages.unknown-field", "400: Extra inputs are not permitted"),
        ("openrouter", "reasoning.omitted", "Error code: 400 - {'error': {'message': 'Provider returned error'}}"),
        ("zai", "params.range", "Invalid API parameter, please check the documentation."),
        ("zai", "params.range", "API 调用参数有误，请检查文档。"),
        ("mimo", "content.null", '{"error": {"message": "Param Incorrect"}}'),
        ("huggingface, transformers", "tools.arguments-invalid", "HTTP 500 Internal Server Error"),
        ("venice", "params.unknown", "Invalid request parameters"),
        ("together", "params.range", "Input validation error"),
        ("github_copilot", "params.unsupported", "HTTP/1.1 400 Bad Request"),
    ],
)
def test_a_text_with_many_causes_names_hosts_causes_and_rules(
    hosts: str, cause: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert 0 == main(["explain", name])
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert "cause    unknown: hosts send this text for many causes, and it names none" in lines
    assert f"said by  {hosts}" in lines
    assert cause in out
    assert any(line.startswith("rules    ") for line in lines)
    assert [] == [line for line in lines if not line.isascii() and not line.startswith("error ")]


def test_a_text_with_many_causes_has_the_one_that_a_rule_finds_in_the_request() -> None:
    error = {"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT"}}
    call = {"role": "model", "parts": [{"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "c2ln"}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "then", "response": {"output": "1"}}}]}
    request = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}, call, result]}
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"
    said_of = [
        each.findings[0].message
        for contents in (request["contents"], request["contents"][:1])
        for each in check(Exchange({"contents": contents}, error, 400, url=url), "gemini", (RULE,))
    ]
    found, unknown = said_of
    assert "a text with several causes at gemini; gemini/response-named-as-its-call finds a cause at " in found
    assert ". At gemini, this text has several causes, such as results.name-missing (" in unknown


def test_only_sdks_that_speak_the_wire_of_the_error_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    for text, wires in ((PASSED_BACK, {"chat"}), (EXPECTED_THINKING, {"messages"})):
        assert 0 == main(["explain", text])
        named = re.findall(r"([a-z-]+)@\d+\.\d", capsys.readouterr().out)
        assert wires == {definition.load(each).protocol for each in named}


def test_a_pasted_curl_command_is_checked_and_its_answer_explained(capsys: pytest.CaptureFixture[str]) -> None:
    body = json.dumps({"model": "gpt-5", "messages": OPEN}, indent=1)
    command = f"$ curl https://api.openai.com/v1/chat/completions \\\n -H 'a: b' -d '{body}'\n"
    answer = json.dumps({"error": {"message": MISSING}})
    assert 0 == main(["explain", command + answer])
    out = capsys.readouterr().out
    assert "/messages/1/tool_calls/0: transcript/calls-answered" in out
    assert "results.missing" in out


@every(
    "text",
    [
        "404 Not Found",
        "422 status code (no body)",
        "Request failed with status code 403",
        "org.springframework.ai.retry.NonTransientAiException: 400 - Bad Request",
        "Client error '400 Bad Request' for url 'https://api.example.com/v1/chat/completions'",
        'PluginInvokeError: {"message":"400 Client Error: Bad Request for url: https://api.perplexity.ai/chat/x"}',
    ],
)
def test_an_error_that_says_only_its_status_is_said_to_say_no_more(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", text]) == 0
    assert "cause    unknown: this is only the status; what the host says is in the body" in capsys.readouterr().out


def test_what_is_no_name_and_no_known_error_is_said_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["explain", "the moon is in the wrong house"])
    assert "no known text, code or status of an error: the moon" in capsys.readouterr().err


PASTED = [
    (
        "ids.empty",
        3,
        'An agent stopped.\nSee below.\nHTTPStatusError\n  Error response 400: "Tool call id has to be defined."',
    ),
    ("content.type", 2, "INFO start\nSame error: messages[1]: content should be a string or a list\nINFO done\n"),
    ("stream.cut", 2, "INFO start\nError: Stream ended without finish_reason\n"),
    ("network.unreachable", 1, "AI_RetryError: Cannot connect to API: connect ECONNREFUSED ::1:11434\n"),
]


@every(("expected", "line", "text"), PASTED)
def test_an_error_in_a_text_of_no_known_form_is_a_finding(expected: str, line: int, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"{expected}.log"
    path.write_text(text)
    code, out, _ = run_check(path)
    assert (1, True) == (code, f"Cause: {expected}" in out), out
    assert f"{path}:{line}: error/request-accepted" in out
    # Documents quote errors, too.
    path.rename(path.with_suffix(".md"))
    assert 2 == run_check(path.with_suffix(".md"))[0]


FLAT = [
    ({"code": 1210, "msg": "Too many.", "success": False}, True),
    ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}, "choices": None}, True),
    ({"base_resp": {"status_code": 0, "status_msg": ""}, "choices": None}, False),
    ({"code": 200, "msg": "done", "success": True}, False),
    ({"id": "1", "choices": [], "code": 0, "message": ""}, False),
]


@every(("body", "expected"), [(body, 2 * int(is_error)) for body, is_error in FLAT])
def test_a_code_and_a_text_at_the_top_of_a_success_are_an_error(body: dict[str, Any], expected: int) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    found = check([Exchange(request, body, 200)], None, [RULE, rules.by_id()["error/no-error-in-success"]])
    assert expected == len([each for each in found if each.findings])


def test_the_code_in_an_error_that_a_success_holds_is_its_status() -> None:
    found = explain({"message": "Provider returned error", "code": 429}, 200)
    assert found is not None
    assert "account.rate-limited" == found.cause.id
