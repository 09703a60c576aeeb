"""`conformance check` shows news before noise: known departures, ranks, equal findings, contested claims."""

import json
from pathlib import Path
from typing import Any

from conformance import rules
from conformance.documents.pointer import REMOVE, edit
from conformance.results import Harm
from tests.checking import BASES, GOOD, check, jsonl, write
from tests.loops import every

CHUNKS = BASES["stream-plain"][0]
QUIRKS: list[tuple[str, Any, str, str]] = [
    ("azure_openai", edit(CHUNKS, {"/response/0/object": ""}), "stream.object", "shape/chunk"),
    (
        "azure_openai",
        edit(CHUNKS, {"/response/0/choices": [], "/response/1/choices/0/delta/role": "assistant"}),
        "stream.empty-first-chunk",
        "stream/empty-choices-only-with-usage",
    ),
    ("perplexity", edit(CHUNKS, {"/response/5": REMOVE}), "stream.done", "stream/ends-with-done"),
]
"""What these providers' claims describe: the exchange, the claim and the rule of the canonical wire."""

LEAK = "<think>Paris is warm.</think>It is warm."


def dated(exchange: Any) -> dict[str, Any]:
    return {**exchange, "date": "2026-01-10"}


@every(("provider", "exchange", "claim", "rule"), QUIRKS)
def test_what_a_claim_describes_is_counted_and_no_finding(
    provider: str, exchange: Any, claim: str, rule: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", jsonl(dated(exchange), dated(exchange)))
    chosen = ("--rule", rule)
    assert 1 == check(path, *chosen)[0]
    code, out, _ = check(path, *chosen, "--provider", provider)
    assert 0 == code
    assert ["no findings", f"known of {provider}: 2 × {claim} ({rule}); --known shows them"] == out.splitlines()[-2:]
    summary = json.loads(check(path, *chosen, "--provider", provider, "--format", "json")[1])["summary"]
    assert {provider: [{"claim": claim, "rule": rule, "count": 2}]} == summary["known"]


def test_known_departures_are_shown_on_request_and_suppressed_in_sarif(tmp_path: Path) -> None:
    provider, exchange, claim, rule = QUIRKS[0]
    path = write(tmp_path / "a.jsonl", jsonl(dated(exchange)))
    given = (path, "--provider", provider, "--known")
    code, out, _ = check(*given)
    assert 0 == code
    assert f"{path}:1: {rule} known by {claim} (provider) at /0/response/0/object: expected " in out
    (outcome,) = check(*given, "--format", "jsonl").inputs[0]["outcomes"]
    assert ("passed", []) == (outcome["status"], outcome["findings"])
    assert [claim] == [each["known"] for each in outcome["known"]]
    (result,) = json.loads(check(*given, "--format", "sarif")[1])["runs"][0]["results"]
    assert [f"known of {provider}: {claim}"] == [each["justification"] for each in result["suppressions"]]


def test_findings_come_by_rank_and_equal_ones_are_one_line(tmp_path: Path) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, "tool_calls": [{**call, "id": f"call_{n}"} for n in range(3)]}
    asked = {"model": "m", "messages": [GOOD["request"]["messages"][0], turn, {"role": "user", "content": "?", "x": 1}]}
    reply = edit(BASES["plain"][0]["response"], {"/choices/0/message/content": LEAK, "/usage/total_tokens": 7})
    path = write(tmp_path / "a.jsonl", jsonl({"request": asked, "response": reply}, {"request": asked}))
    lines = [each for each in check(path)[1].splitlines() if " at /0/" in each]
    shown = [each.partition(": ")[2].partition(" ")[0] for each in lines]
    assert [
        "transcript/calls-answered",
        "reasoning/no-think-tags-in-content",
        "usage/adds-up",
        "request/no-unknown-fields",
    ] == shown
    assert " MUST (client) at /0/request/messages/1/tool_calls/0: " in lines[0]
    assert ["(6 ×)", "(2 ×)"] == [lines[at][-5:] for at in (0, 3)]
    outcomes = check(path, "--format", "jsonl").inputs[0]["outcomes"]
    ranks = {each["rule"]: each["findings"][0]["rank"] for each in outcomes}
    assert dict(zip(shown, (1, 2, 3, 3), strict=True)) == ranks
    results = json.loads(check(path, "--format", "sarif")[1])["runs"][0]["results"]
    assert {"transcript/calls-answered": 100.0, "usage/adds-up": 10.0}.items() <= {
        each["ruleId"]: each["rank"] for each in results
    }.items()


CONTESTED = """
title: A gateway
kind: gateway
base_url: https://gateway.example/v1
claims:
  results.missing:
    value: accepted
    source: {url: https://gateway.example/docs, read: 2026-11-20}
    confidence: medium
    disagrees:
    - value: {status: 400, message: tool calls need results}
      source: {url: https://gateway.example/issues/1, read: 2026-11-20}
"""


def test_a_finding_of_a_contested_claim_names_the_source_that_disagrees(tmp_path: Path) -> None:
    profile = write(tmp_path / "gateway.yaml", CONTESTED)
    path = write(tmp_path / "a.json", edit(GOOD, {"/request/messages/2": {"role": "user", "content": "Go on."}}))
    given = (path, "--provider", profile, "--rule", "transcript/calls-answered")
    said = "https://gateway.example/issues/1 says 400: tool calls need results"
    assert f"\n    sources disagree: {said}\n" in check(*given)[1]
    assert said == check(*given, "--format", "jsonl").inputs[0]["outcomes"][0]["findings"][0]["contested"]


def test_every_rule_states_what_its_violation_does_to_an_agent() -> None:
    found = {harm: [rule.id for rule in rules.load() if rule.harm is harm] for harm in Harm}
    assert "stream/complete" in found[Harm.LOOP]
    assert "reasoning/verbatim" in found[Harm.CONTENT]
    assert "usage/adds-up" in found[Harm.FORM]
