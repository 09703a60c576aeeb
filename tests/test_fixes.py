"""Fixes: each is a patch that removes its finding, brings no other, and loses nothing that the request says."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import fixes, profiles, rules, wires
from conformance.documents.patch import apply, difference
from conformance.documents.pointer import REMOVE, edit
from conformance.files.checking import Checker, File, Task
from conformance.fixes.content import content_of, loss
from conformance.fixes.corrected import corrected
from conformance.fixes.excerpt import excerpt
from conformance.formats.records import exchange
from conformance.judge import check, judge
from conformance.resources import folder
from conformance.results import Finding, Status
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side
from tests.checking import BASES, jsonl, write
from tests.checking import check as run_check
from tests.loops import every
from tests.mutation import bases, catalogue
from tests.mutation.definition import Mutation
from tests.mutation.mutants import all_bases
from tests.sampling import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text("ab", max_size=3),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text("ab", max_size=2), each, max_size=3),
    max_leaves=12,
)
OF_CLIENTS = [
    each
    for each in catalogue.load()
    if any(name in rules.by_id() and rules.by_id()[name].on.side is Side.CLIENT for name in each.expects)
]
LEAST_FIXED = 0.75
"""How many of the findings in the mutants of clients are fixed: what is lost in a single request is in no file."""


def conversation(base: str, changes: dict[str, Any]) -> Conversation:
    return tuple(exchange(each, base) for each in edit(BASES[base], changes))


def findings(given: Conversation, claims: dict[str, Any] | None = None) -> list[tuple[str, Finding]]:
    outcomes = check(given, profiles.of(claims) if claims else None)
    return [(each.rule, one) for each in outcomes if each.status is Status.FAILED for one in each.findings]


def fixed(base: str, changes: dict[str, Any], rule: str, claims: dict[str, Any] | None = None) -> fixes.Fix:
    given = conversation(base, changes)
    finding = next(each for name, each in findings(given, claims) if name == rule)
    found = fixes.fix(given, rule, finding, profiles.of(claims) if claims else None)
    assert found is not None
    return found


@given(JSON, JSON)
@settings(max_examples=examples(200))
def test_a_difference_leads_from_one_value_to_the_other(before: Any, after: Any) -> None:
    assert after == apply(before, difference(before, after))


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6), st.data())
@settings(max_examples=examples(100))
def test_any_part_of_a_difference_can_be_applied(before: list[int], after: list[int], data: st.DataObject) -> None:
    operations = difference(before, after)
    chosen = [each for each in operations if data.draw(st.booleans())]
    added = sum(each["op"] == "add" for each in chosen) - sum(each["op"] == "remove" for each in chosen)
    assert len(before) + added == len(apply(before, chosen))


def test_a_fix_is_the_smallest_patch() -> None:
    found = fixed("tool-result", {"/0/request/messages/0/timestamp": 1}, "request/no-local-only-fields")
    assert ({"op": "remove", "path": "/messages/0/timestamp"},) == found.patch


def test_lost_reasoning_comes_from_the_reply_that_had_it() -> None:
    lost = {"/1/request/messages/1/reasoning_content": REMOVE}
    found = fixed("stream-thinking-session", lost, "reasoning/resent-on-tool-turns")
    (operation,) = found.patch
    assert ("add", "/messages/1/reasoning_content") == (operation["op"], operation["path"])
    assert "/0/response/choices/0" == found.origin


def test_json_schema_is_sent_to_gemini_under_its_own_name() -> None:
    schema = {"type": "object", "properties": {}, "$schema": "http://json-schema.org/schema#"}
    declared = {"/0/request/tools/0/functionDeclarations": [{"name": "get_weather", "parameters": schema}]}
    keywords = profiles.load("gemini").on("gemini").at("")["tools.schema-keywords"]
    found = fixed("gemini-result", declared, "request/tool-schema-keywords", {"tools.schema-keywords": keywords})
    corrected_request = apply(conversation("gemini-result", declared)[0].request, found.patch)
    assert ["name", "parametersJsonSchema"] == [*corrected_request["tools"][0]["functionDeclarations"][0]]


def test_what_only_the_client_knows_is_named() -> None:
    given = conversation("tool-result", {})
    (only,) = given
    body = {**only.request, "messages": [each for each in only.request["messages"] if each["role"] != "tool"]}
    body["messages"].append({"role": "user", "content": "And now?"})
    asked = (Exchange(request=body),)
    finding = next(each for name, each in findings(asked) if name == "transcript/calls-answered")
    found = fixes.fix(asked, "transcript/calls-answered", finding, None)
    assert found is not None
    assert () == found.patch
    assert "the result of the call: run the tool, or say that the call was not carried out" == found.needs


@every(
    ("before", "after", "expected"),
    [
        ([{"role": "user", "content": "Hi there"}], [], "the text 'Hi there' would be lost"),
        (
            [{"role": "user", "content": "Hi"}],
            [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Go on."}],
            "the text 'Go on.' would be made up",
        ),
        (
            [{"role": "assistant", "content": "A", "reasoning_content": "Why so"}],
            [{"role": "assistant", "content": "A"}],
            "the reasoning 'Why so' would be lost",
        ),
        (
            [{"role": "tool", "tool_call_id": "a", "content": "12"}],
            [],
            "the result '12' would be lost",
        ),
        (
            [{"role": "assistant", "content": "<think>Hm</think>Yes"}],
            [{"role": "assistant", "content": "Yes", "reasoning_content": "Hm"}],
            "",
        ),
    ],
)
def test_a_loss_is_named(before: list[Any], after: list[Any], expected: str) -> None:
    one, other = (content_of(Exchange(request={"messages": each})) for each in (before, after))
    assert expected == loss(one, other, "")


def test_a_session_is_corrected_in_every_request_that_repeats_a_message() -> None:
    lost = {f"/{number}/request/messages/2/reasoning_content": REMOVE for number in (1, 2, 3)}
    given = conversation("thinking-session", lost)
    assert [] != findings(given)
    whole = corrected(given, None, rules.load()).conversation
    assert [] == findings(whole)
    assert [each.response for each in given] == [each.response for each in whole]


def test_an_interleaved_session_is_corrected_as_well() -> None:
    lost = {f"/{number}/request/messages/2/reasoning_content": REMOVE for number in (1, 2, 3)}
    given = conversation("thinking-session", lost)
    other = conversation("plain", {})
    mixed = (*given[:2], *other * 4, *given[2:])
    whole = corrected(mixed, None, rules.load())
    assert 0 == whole.undone
    assert [] == findings(whole.conversation)


def long_session(turns: int) -> Conversation:
    """Return a session whose requests lose the reasoning of each turn."""
    first, second, *_ = BASES["thinking-session"]
    body, reply = second["request"], first["response"]
    head, sent, results = body["messages"][:2], body["messages"][2], body["messages"][3:5]
    lost = {key: value for key, value in sent.items() if key != "reasoning_content"}
    calls = [call["id"] for call in sent["tool_calls"]]
    history, exchanges = list(head), []
    for turn in range(turns):
        # Each turn has ids of its own, as those of real hosts do.
        made = json.loads(json.dumps([reply, lost, results]).replace(calls[0], f"{calls[0]}{turn}x"))
        for old in calls[1:]:
            made = json.loads(json.dumps(made).replace(old, f"{old}{turn}x"))
        exchanges.append(exchange({"request": {**body, "messages": list(history)}, "response": made[0]}, "long"))
        history += [made[1], *made[2]]
    return tuple(exchanges)


def test_a_long_session_is_corrected_from_excerpts() -> None:
    given = long_session(24)
    short = excerpt(given[-4:])
    assert 20 < short.missing
    assert [] != [each for _, each in findings(given) if each.side == Side.CLIENT]
    whole = corrected(given, None, rules.load())
    assert (0, 0) == (whole.left, whole.undone)
    assert [] == [each for _, each in findings(whole.conversation) if each.side == Side.CLIENT]


def test_json_lines_have_the_patch_for_the_hosts_of_a_model() -> None:
    path = folder("docs") / "examples" / "lost-reasoning.json"
    _, shown, _ = run_check("--format", "jsonl", path)
    (outcome,) = json.loads(shown)["outcomes"]
    (finding,) = outcome["findings"]
    expected = [{"op": "add", "path": "/messages/1/reasoning_content", "value": ""}]
    (fix,) = finding["fixes"]
    assert expected == fix["patch"]
    assert [each["provider"] for each in finding["hosts"]] == fix["for"]
    _, text, _ = run_check("--fix", path)
    assert f"    the changes are for {', '.join(fix['for'])}, which reject the request as it is\n" in text


def test_the_diff_alone_says_what_the_other_findings_need_and_looks_for_no_patch_of_each(tmp_path: Path) -> None:
    (record,) = edit(BASES["tool-result"], {"/0/request/messages/0/timestamp": 12})
    sent = [each for each in record["request"]["messages"] if each["role"] != "tool"]
    record["request"]["messages"] = [*sent, {"role": "user", "content": "And now?"}]
    path = write(tmp_path / "exchange.json", record)
    _, text, _ = run_check("--fix", path)
    assert '-      "timestamp": 12' in text
    assert 1 == text.count("    no fix: it needs the result of the call: run the tool, or say that ")
    assert 1 == text.count("no fix: it needs")
    (checked,) = Checker(Task(corrects=True)).file(File(path))
    assert [] == [each for outcome in checked.report["outcomes"] for each in outcome["findings"] if "fixes" in each]


def mutants(mutation: Mutation) -> list[Conversation]:
    """Return the first mutant of a mutation in each of three bases."""
    found: list[Conversation] = []
    for base in all_bases(mutation.wire)[not mutation.sessions]:
        if mutation.prepare is not None or len(found) == 3:
            continue
        if mutation.claims and not bases.is_good(base, mutation.claims):
            continue
        records = base.records()
        target = next(iter(mutation.find(records)), None)
        if target is None:
            continue
        mutation.apply(target)
        if orjson.dumps(records) != base.text:
            found.append(bases.conversation(records))
    return found


def outcomes_of(mutation: Mutation) -> list[bool]:
    """Return whether each finding in the mutants of a mutation is fixed; what a fix leaves is checked on the way."""
    shown = []
    profile = profiles.of(mutation.claims) if mutation.claims else None
    for mutant in mutants(mutation):
        for rule, finding in findings(mutant, dict(mutation.claims)):
            found = fixes.fix(mutant, rule, finding, profile)
            if found is None:
                continue
            shown.append(bool(found.patch))
            if found.patch:
                number = int(finding.at.split("/")[1])
                request = apply(mutant[number].request, found.patch)
                sent = wires.translate((Exchange(request=request, url=mutant[number].url),))[0]
                assert sent.request is not None
                assert bool(found.title)
    return shown


@every("mutation", OF_CLIENTS[::24], ids=lambda each: each.name)
def test_the_fix_of_a_mutant_is_a_request_of_its_wire(mutation: Mutation) -> None:
    assert [] != outcomes_of(mutation) or mutation.prepare is not None


@pytest.mark.parametrize(
    "one_in",
    [pytest.param(3, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)],
    ids=["some", "all"],
)
def test_most_findings_in_mutants_are_fixed_by_requests_of_their_wires(one_in: int) -> None:
    chosen = OF_CLIENTS[::one_in]
    found = {each.name: outcomes_of(each) for each in chosen}
    assert [] == [each.name for each in chosen if not found[each.name] and each.prepare is None]
    shown = [fixed for outcomes in found.values() for fixed in outcomes]
    assert LEAST_FIXED <= sum(shown) / len(shown)


def test_the_command_prints_a_diff_and_writes_corrected_requests(tmp_path: Path) -> None:
    (record,) = edit(BASES["tool-result"], {"/0/request/messages/2/tool_call_id": "call_9"})
    path, out = write(tmp_path / "session.jsonl", jsonl(record, BASES["plain"][0])), tmp_path / "fixed.jsonl"
    code, shown, _ = run_check("--fix", path, "-o", out)
    assert 1 == code
    own = record["request"]["messages"][1]["tool_calls"][0]["id"]
    assert f'-      "tool_call_id": "call_9",\n+      "tool_call_id": "{own}",\n' in shown
    assert f"--- a{path}:1\n+++ b{path}:1\n" in shown
    first, second = [json.loads(line) for line in out.read_text().splitlines()]
    assert BASES["tool-result"][0] == first
    assert BASES["plain"][0] == second
    assert 0 == run_check(out)[0]


def test_json_has_the_patch_of_each_finding(tmp_path: Path) -> None:
    (record,) = edit(BASES["tool-result"], {"/0/request/messages/2/tool_call_id": "call_9"})
    _, shown, _ = run_check("--format", "json", write(tmp_path / "exchange.json", record))
    outcomes = json.loads(shown)["inputs"][0]["outcomes"]
    found = [each["fixes"][0] for outcome in outcomes for each in outcome["findings"]]
    own = record["request"]["messages"][1]["tool_calls"][0]["id"]
    expected = [{"op": "replace", "path": "/messages/2/tool_call_id", "value": own}]
    assert [expected] * len(found) == [each["patch"] for each in found]
    assert ["/0/request"] * len(found) == [each["at"] for each in found]


def test_a_file_that_was_written_again_is_fixed_as_it_is_now(tmp_path: Path) -> None:
    path, out = tmp_path / "session.jsonl", tmp_path / "out.jsonl"
    for words in ("Hi", "Good morning"):
        request = {"model": "gpt-5", "messages": [{"role": "user", "content": words, "at": 1}]}
        path.write_text(jsonl({"request": request}, {"request": request}))
        run_check("--fix", path, "-o", out)
        found = [json.loads(line)["request"]["messages"] for line in out.read_text().splitlines()]
        assert [[{"role": "user", "content": words}]] * 2 == found


def test_fixed_needs_fix(tmp_path: Path) -> None:
    code, _, error = run_check(write(tmp_path / "plain.json", BASES["plain"][0]), "-o", tmp_path / "out")
    assert 2 == code
    assert "--fixed needs --fix: it is where the corrected requests go" in error


def test_a_finding_about_the_provider_has_no_fix() -> None:
    given = conversation("plain", {"/0/response/choices/0/message/role": "user"})
    rule, finding = findings(given)[0]
    assert "provider" == finding.side
    assert fixes.fix(given, rule, finding, None) is None
    assert [] == [each for each in judge(given, None, rules.load()).found() if each.status is Status.ERRORED]


USER = {"role": "user", "content": "Which?"}
MINE: dict[str, Any] = {"type": "tool_use", "id": "mine_1", "name": "b", "input": {}}
THEIRS: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {}}
ANSWERS = [{"type": "tool_result", "tool_use_id": each["id"], "content": each["name"]} for each in (THEIRS, MINE)]
REPLIED = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [THEIRS],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
URL = "https://api.anthropic.com/v1/messages"


def asked(messages: list[Any], **members: Any) -> dict[str, Any]:
    tools = [{"name": each, "input_schema": {"type": "object", "properties": {}}} for each in "ab"]
    return {"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": messages, "tools": tools, **members}


def patched(given: Conversation, rule: str, provider: str) -> tuple[fixes.Fix, Any]:
    profile = profiles.load_profile(provider)
    found = [(each.rule, one) for each in check(given, profile) for one in each.findings]
    fix = fixes.fix(given, rule, next(one for name, one in found if name == rule), profile)
    assert fix is not None
    return fix, apply(given[-1].request, fix.patch) if fix.patch else None


@every(
    "content",
    [
        {"type": "text", "text": "Hi"},
        {"text": "Hi"},
        {"type": "text", "wrong": "Hi"},
        {"type": "text", "value": "Hi"},
        [{"type": "text", "content": "Hi"}],
    ],
)
def test_a_text_under_another_key_becomes_the_text_of_its_part(content: Any) -> None:
    given = (Exchange(asked([{"role": "user", "content": content}]), url=URL),)
    _, request = patched(given, "native/request-shape", "anthropic")
    (part,) = request["messages"][0]["content"]
    assert ("text", "Hi") == (part["type"], part["text"])


@every(
    "turn",
    [
        [{"role": "assistant", "content": [THEIRS]}, {"role": "assistant", "content": [MINE]}],
        [{"role": "assistant", "content": [THEIRS, MINE]}],
    ],
)
def test_a_call_of_the_client_becomes_a_turn_behind_the_one_of_the_reply(turn: list[Any]) -> None:
    messages = [USER, *turn, {"role": "user", "content": ANSWERS}]
    given = (Exchange(asked([USER]), REPLIED, 200, url=URL), Exchange(asked(messages), url=URL))
    _, request = patched(given, "transcript/reply-resent-unchanged", "anthropic")
    expected: list[Any] = [USER]
    for call, answer in zip((THEIRS, MINE), ANSWERS, strict=True):
        expected += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    assert expected == request["messages"]


@every(
    ("before", "after", "expected"),
    [
        ("Be nice. cch=aa096;", "Be nice. cch=bdb2f;", "Be nice. cch=aa096;"),
        ("At most 1200.", "At most 1300.", None),
        ("Serve cafe.", "Serve beef.", None),
    ],
)
def test_a_random_token_in_a_prompt_stays_the_first_one(before: str, after: str, expected: str | None) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "Ok."}]}
    reply = {**REPLIED, "content": said["content"], "stop_reason": "end_turn"}
    later = asked([USER, said, USER], system=after)
    given = (Exchange(asked([USER], system=before), reply, 200, url=URL), Exchange(later, url=URL))
    fix, request = patched(given, "transcript/history-append-only", "anthropic")
    assert expected == (request and request["system"])
    assert ("/0/request/system" if expected else "") == fix.origin
