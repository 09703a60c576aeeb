"""The rules and their own examples: the proof that each rule can fail, and fails alone."""

import ast
import importlib.util
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance import rules
from conformance.documents import read_json
from conformance.documents.pointer import REMOVE
from conformance.errors import UnknownName
from conformance.judge import check
from conformance.profiles import Profile, of
from conformance.resources import folder
from conformance.results import Level, Outcome, Status
from conformance.rules import Example, Rule
from tests.loops import every

ROOT = Path(__file__).parents[1]
FAMILIES = {
    "shape", "request", "transcript", "tool-calls", "reasoning", "response", "stream", "usage", "error", "http",
    "native", "gemini", "messages", "responses",
}  # fmt: skip
BASES = sorted(path.stem for path in (folder("fixtures") / "wire").glob("*.json"))


def examples(kind: str) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.id}-{number}")
        for rule in rules.load()
        for number, example in enumerate(getattr(rule, kind), 1)
    ]


def provider(claims: Mapping[str, Any]) -> Profile | None:
    """Return the provider with these claims: one for all examples with the same, since rules are arranged for each."""
    return _provider(json.dumps(claims, sort_keys=True)) if claims else None


@cache
def _provider(claims: str) -> Profile:
    return of(json.loads(claims))


def broken(example: Example) -> dict[str, list[str]]:
    return failed(check(example.conversation(), provider(example.claims)))


def failed(outcomes: Sequence[Outcome]) -> dict[str, list[str]]:
    assert not [outcome for outcome in outcomes if outcome.status is Status.ERRORED]
    return {each.rule: [found.message for found in each.findings] for each in outcomes if each.status is Status.FAILED}


@every(("rule", "example"), examples("bad"))
def test_a_bad_example_breaks_its_rule_and_no_other(rule: Rule, example: Example) -> None:
    assert [rule.id] == list(broken(example))


@every(("rule", "example"), examples("good"))
def test_a_good_example_is_judged_by_its_rule_and_breaks_none(rule: Rule, example: Example) -> None:
    outcomes = check(example.conversation(), provider(example.claims))
    judged = {outcome.rule: outcome.judged for outcome in outcomes}
    assert {} == failed(outcomes)
    assert judged[rule.id] > 0


@every("base", BASES)
def test_a_base_breaks_no_rule(base: str) -> None:
    assert {} == broken(Example(base))


def test_each_id_selects_its_rule() -> None:
    assert {rule.id: [rule.id] for rule in rules.load()} == {
        rule.id: [each.id for each in rules.select([rule.id])] for rule in rules.load()
    }


def test_globs_select_rules_once_and_in_order() -> None:
    chosen = ["usage/adds-up", "usage/cached-within-prompt"]
    assert chosen == [rule.id for rule in rules.select(["usage/c*", "usage/adds-up", "usage/[ac]*"])]


def test_a_glob_that_matches_no_rule_is_unknown() -> None:
    with pytest.raises(UnknownName, match="unknown rule 'stream/not-cut'"):
        rules.select(["usage/*", "stream/not-cut"])


REFUSED = {"status": 400, "message": "{index} {position} {role} {field} {kind} {id}"}
RESULT = "/0/request/messages/2"
CALL = "/0/request/messages/1/tool_calls/0"
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
SHAPES: list[tuple[str, dict[str, Any], str]] = [
    ("results.without-id", {f"{RESULT}/tool_call_id": REMOVE}, "2 {position} tool tool_call_id {kind} {id}"),
    ("results.content-null", {f"{RESULT}/content": None}, "2 {position} tool content None {id}"),
    ("results.content-null", {f"{RESULT}/content": REMOVE}, "2 {position} tool content {kind} {id}"),
    ("results.content-object", {f"{RESULT}/content": {"degrees": 18}}, "2 {position} tool content"),
    ("results.image-parts", {f"{RESULT}/content": [IMAGE]}, "2 0 tool type image_url {id}"),
    ("request.wrong-type", {f"{RESULT}/content": 18}, "2 {position} tool content 18 {id}"),
    ("request.wrong-type", {f"{RESULT}/content": ["18"]}, "2 0 tool 0 18 {id}"),
    ("request.wrong-type", {RESULT: "18"}, "2 {position} {role} {field} {kind} {id}"),
    ("request.wrong-type", {f"{CALL}/id": 7}, "1 0 assistant id {kind} 7"),
    ("request.unknown-part-type", {f"{RESULT}/content": [{"type": "table"}]}, "2 0 tool type table {id}"),
    ("request.unknown-part-type", {"/0/request/messages/0/content": [{"type": "input_text"}]}, "0 0 user type"),
    ("request.unknown-role", {"/0/request/messages/0/role": "human"}, "0 {position} human role {kind} {id}"),
    ("request.empty-tool-calls", {"/0/request/messages/1/tool_calls": []}, "1 {position} assistant tool_calls"),
    ("request.null-tool-calls", {"/0/request/messages/1/tool_calls": None}, "1 {position} assistant tool_calls"),
    ("request.call-without-type", {f"{CALL}/type": REMOVE}, "1 0 assistant type {kind} call_a"),
    ("ids.absent-in-request", {f"{CALL}/id": REMOVE}, "1 0 assistant id {kind} None"),
    ("ids.absent-in-request", {f"{CALL}/id": None}, "1 0 assistant id {kind} None"),
    ("arguments.object-in-request", {f"{CALL}/function/arguments": {}}, "1 0 assistant arguments {kind} call_a"),
    ("request.no-messages", {"/0/request/messages": []}, " {position} {role} messages {kind} {id}"),
    ("tools.type-absent", {"/0/request/tools/0/type": REMOVE}, " {position} {role} tools[0].type {kind} {id}"),
    ("request.model-omitted", {"/0/request/model": REMOVE}, " {position} {role} model {kind} {id}"),
    ("arguments.absent-in-request", {f"{CALL}/function/arguments": REMOVE}, "1 0 assistant arguments {kind} call_a"),
    ("request.null-parameters", {"/0/request/tools": None}, " {position} {role} tools {kind} {id}"),
    ("request.missing-field", {"/0/request/messages": None}, " {position} {role} messages {kind} {id}"),
    ("request.null-message-fields", {"/0/request/messages/0/name": None}, "0 {position} user name {kind} {id}"),
    (
        "request.image-url-string",
        {"/0/request/messages/0/content": [{"type": "image_url", "image_url": "https://example.org/a.png"}]},
        "0 0 user image_url",
    ),
    (
        "request.audio-string",
        {"/0/request/messages/0/content": [{"type": "input_audio", "input_audio": "//NkxAAA"}]},
        "0 0 user input_audio",
    ),
    (
        "tools.choice-type-absent",
        {"/0/request/tool_choice": {"function": {"name": "get_weather"}}},
        " {position} {role} tool_choice.type {kind} {id}",
    ),
    ("request.missing-field", {"/0/request/messages/0/content": REMOVE}, "0 {position} user messages[0].content"),
    (
        "request.missing-field",
        {f"{CALL}/function/name": REMOVE},
        "1 0 assistant messages[1].tool_calls[0].function.name",
    ),
    (
        "request.missing-field",
        {"/0/request/response_format": {"type": "json_schema", "json_schema": {}}},
        " {position} {role} response_format.json_schema.name",
    ),
    ("tools.empty-list", {"/0/request/tools": []}, " {position} {role} tools {kind} {id}"),
    ("results.unknown-id", {f"{RESULT}/tool_call_id": "call_9"}, "2 {position} tool {field} {kind} call_9"),
    ("results.missing-at-end", {RESULT: REMOVE}, "1 {position} {role} {field} {kind} call_a"),
]


def refusals(example: Example) -> list[str]:
    outcomes = check(example.conversation(), of(example.claims))
    return [str(each.refusal.message) for outcome in outcomes for each in outcome.findings if each.refusal is not None]


def test_a_refused_value_is_named_with_its_parameter_and_the_model() -> None:
    refused = {"status": 400, "message": "{model}: {field} {value}"}
    claims = {"thinking.fixed-parameters": [{"field": "temperature", "values": [1], "refusal": refused}]}
    edits = {"/0/request/temperature": 0.5}
    assert ["example-model: temperature 0.5"] == refusals(Example("plain", edits, claims))


ARGUMENTS = f"{CALL}/function/arguments"
NO_ARRAYS = {"arguments.array-in-request": REFUSED}
NULL_ALONE = {
    "thinking.mode": "always",
    "reasoning.omitted-on-tool-turn": "accepted",
    "reasoning.null-on-tool-turn": {"status": 500},
}
REASONING = "/0/request/messages/1/reasoning_content"


@every(
    ("rule", "edits", "claims", "expected"),
    [
        ("reasoning/present-on-tool-turns", {}, NULL_ALONE, Status.NOT_APPLICABLE),
        ("reasoning/present-on-tool-turns", {REASONING: None}, NULL_ALONE, Status.FAILED),
        ("request/arguments-are-json", {ARGUMENTS: '{"a": 1}'}, NO_ARRAYS, Status.PASSED),
        ("request/arguments-are-json", {ARGUMENTS: "[]"}, NO_ARRAYS, Status.FAILED),
    ],
)
def test_a_rule_is_about_what_its_claim_names_and_no_more(
    rule: str, edits: dict[str, object], claims: dict[str, object], expected: Status
) -> None:
    (outcome,) = check(Example("tool-result", edits, claims).conversation(), of(claims), rules=rule)
    assert expected is outcome.status


WITHOUT_ID = [
    ("ignored", "ignored", Level.SHOULD),
    ("unknown", "unknown", Level.SHOULD),
    ("damaged", "", Level.MUST),
    (REFUSED, "", Level.MUST),
]


@every(("handling", "expected", "level"), WITHOUT_ID)
def test_a_call_whose_result_has_no_id_says_what_the_provider_does_with_it(
    handling: Any, expected: str, level: Level
) -> None:
    given = Example("tool-result", {f"{RESULT}/tool_call_id": REMOVE}, {"results.without-id": handling})
    (outcome,) = check(given.conversation(), of(given.claims), rules="transcript/calls-answered")
    assert [(expected, level)] == [(found.handling, found.level) for found in outcome.findings]


@every(("claim", "edits", "words"), SHAPES)
def test_a_wrong_shape_is_refused_as_the_claim_about_it_says(claim: str, edits: dict[str, object], words: str) -> None:
    (message,) = refusals(Example("tool-result", edits, {claim: REFUSED}))
    assert message.startswith(words)


@every(("claim", "edits", "words"), SHAPES)
def test_a_wrong_shape_is_no_must_if_the_provider_tolerates_it(
    claim: str, edits: dict[str, object], words: str
) -> None:
    outcomes = check(Example("tool-result", edits).conversation(), of({claim: "accepted"}))
    levels = {found.level for outcome in outcomes for found in outcome.findings if "/request" in found.at}
    assert Level.SHOULD in levels


NULLS = [
    ({}, "/0/request/tool_choice", Level.SHOULD),
    ({}, "/0/request/tools", Level.SHOULD),
    ({}, "/0/request/model", Level.MUST),
    ({}, "/0/request/messages", Level.MUST),
    ({"request.null-parameters": "accepted"}, "/0/request/tool_choice", Level.SHOULD),
    ({"request.null-parameters": REFUSED}, "/0/request/tool_choice", Level.MUST),
]


@pytest.mark.parametrize(("claims", "place", "level"), NULLS)
def test_null_for_an_optional_parameter_is_a_must_only_where_it_is_rejected(
    claims: dict[str, object], place: str, level: Level
) -> None:
    outcomes = check(Example("plain", {place: None}).conversation(), of(claims) if claims else None)
    assert [level] == [found.level for outcome in outcomes for found in outcome.findings if found.at == place]


@pytest.mark.parametrize(
    "edits",
    [
        {"/0/request/temperature": "0.5"},
        {"/0/request/messages/0/content": None},
        {f"{RESULT}/content": []},
        {"/0/response/object": 7},
    ],
)
def test_no_refusal_is_predicted_if_no_claim_covers_it(edits: dict[str, object]) -> None:
    assert [] == refusals(Example("tool-result", edits, {claim: REFUSED for claim, *_ in SHAPES}))


def test_each_parameter_of_the_sdk_of_openai_is_known() -> None:
    spec = importlib.util.find_spec("openai")
    assert spec is not None
    assert spec.origin is not None
    # Read, because importing the types of the SDK takes longer than this file of tests.
    path = Path(spec.origin).parent / "types" / "chat" / "completion_create_params.py"
    classes = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.ClassDef)]
    of_request = [each for each in classes if each.name.startswith("CompletionCreateParams")]
    fields = [node.target for each in of_request for node in each.body if isinstance(node, ast.AnnAssign)]
    names = {field.id for field in fields if isinstance(field, ast.Name)}
    assert {"messages", "stream", "presence_penalty"} <= names
    edits = {f"/0/request/{name}": 1 for name in names} | {"/0/request/top_k": 5}
    given = Example("plain", edits).conversation()
    (outcome,) = check(given, of({"request.unknown-top-field": REFUSED}), rules="request/no-unknown-parameters")
    assert ["/0/request/top_k"] == [found.at for found in outcome.findings]


@pytest.mark.parametrize(
    ("base", "edits", "known"),
    [
        ("plain", {"/0/response/choices/0/finish_reason": ""}, {"finish.missing": True}),
        ("plain", {"/0/response/choices/0/finish_reason": REMOVE}, {"finish.missing": True}),
        ("stream-plain", {"/0/response/3": REMOVE}, {"finish.missing-in-stream": True}),
        ("plain", {"/0/response/object": REMOVE}, {"reply.object": "absent"}),
        ("plain", {"/0/response/choices/0/index": REMOVE}, {"reply.choice-index": "absent"}),
        ("plain", {"/0/response/created": REMOVE}, {"reply.omitted-fields": ["created"]}),
        ("plain", {"/0/response/model": None}, {"reply.omitted-fields": ["model"]}),
        ("stream-plain", {"/0/response/1/object": ""}, {"stream.object": [""]}),
        ("stream-plain", {"/0/response/1/id": REMOVE}, {"stream.chunk-id": "absent"}),
    ],
)
def test_what_a_provider_is_claimed_to_omit_from_replies_is_known_and_no_finding(
    base: str, edits: dict[str, object], known: dict[str, Any]
) -> None:
    without, described = [check(Example(base, edits).conversation(), of(claims)) for claims in ({}, known)]
    assert {Level.MUST} == {found.level for outcome in without for found in outcome.findings}
    assert [] == [outcome.rule for outcome in described if outcome.findings or outcome.status is Status.FAILED]
    assert set(known) == {found.known for outcome in described for found in outcome.known}
    assert dict.fromkeys(known, 1) == {name: n for each in described for name, n in each.known_counts.items()}


def test_each_rule_has_the_level_and_the_side_that_are_published() -> None:
    rows = [line.split(" | ") for line in (ROOT / "reports" / "rules.md").read_text("utf-8").splitlines()]
    published = {row[0].strip("| []").partition("]")[0]: tuple(row[1:3]) for row in rows if 4 == len(row)}
    known = {rule.id: (rule.level.value, rule.on.side.value) for rule in rules.load()}
    listed = known.keys() & published.keys()
    assert 100 < len(listed)
    assert {name: published[name] for name in listed} == {name: known[name] for name in listed}


def test_every_family_has_rules() -> None:
    assert {rule.family for rule in rules.load()} == FAMILIES


@every("rule", rules.load(), ids=lambda rule: rule.id)
def test_a_rule_says_what_it_checks_why_and_how_to_fix_it(rule: Rule) -> None:
    assert rule.bad
    assert rule.title.endswith(".")
    assert len(rule.title) <= 100
    assert "to fix it" in rule.doc.lower()
    assert rule.source.package or rule.source.repo or rule.source.url.startswith(("https://", "schemas/"))


@every("rule", rules.load(), ids=lambda rule: rule.id)
def test_a_local_source_holds_the_words_that_are_quoted(rule: Rule) -> None:
    if rule.source.url.startswith("schemas/"):
        path = folder("schemas").parent / Path(rule.source.url)
        schema = read_json(path)
        assert isinstance(schema, dict)
        assert rule.source.quote in schema["description"]
