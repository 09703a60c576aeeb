"""Recordings of Responses: each is judged, what it breaks is known, and refusals are predicted in their words."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import wires
from conformance.documents.pointer import REMOVE, resolve
from conformance.formats.records import exchange
from conformance.judge import check, judge
from conformance.results import Level, Status
from conformance.rules import Example, load
from conformance.wire.exchange import Conversation


def conversation(base: str, edits: dict[str, Any]) -> Conversation:
    return Example(base, edits).conversation()


def recorded(shared: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(shared / "recordings" / f"{name}.jsonl.gz") as lines:
        yield from map(json.loads, lines)


def sessions(shared: Path) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for number, record in enumerate(recorded(shared, "responses")):
        found.setdefault(record["session"] or number, []).append(record)
    return found


MUSTS = {
    # The client encodes the arguments twice.
    ("transcript/reply-resent-unchanged", "charmbracelet/fantasy"): 40,
    # The client writes the reasoning into the answer.
    ("transcript/reply-resent-unchanged", "Mirascope/mirascope"): 4,
    # The client writes how Ruby prints an object instead of the answer.
    ("transcript/reply-resent-unchanged", "crmne/ruby_llm"): 1,
    # The client keeps the blob of the added item, not of the done one.
    ("responses/blob-of-the-done-item", "charmbracelet/fantasy"): 6,
    # The client drops the reasoning item before the call.
    ("reasoning/resent-on-tool-turns", "charmbracelet/fantasy"): 6,
    ("reasoning/resent-on-tool-turns", "crmne/ruby_llm"): 2,
    # The client sends an item of the reply twice.
    ("responses/item-ids-unique", "crmne/ruby_llm"): 1,
    # An empty user message between call and output; OpenAI pairs by call_id, other hosts do not.
    ("transcript/results-follow-calls", "simonw/llm-openai-plugin"): 1,
    # Outputs in the order in which the tools finished; likewise.
    ("transcript/results-in-call-order", "braintrustdata/braintrust-sdk-javascript"): 4,
}
"""Every MUST on the client's side of a request that was answered 200, with why it is a fault."""


@pytest.mark.slow
def test_every_recording_of_responses_is_judged_and_its_findings_are_known_and_point_into_it(shared: Path) -> None:
    found: Counter[tuple[str, str]] = Counter()
    count = 0
    for records in sessions(shared).values():
        exchanges = tuple([exchange(record, "responses.jsonl.gz") for record in records])
        count += len(exchanges)
        natives = [each.native for each in wires.translate(exchanges)]
        assert {"responses"} == {native.protocol for native in natives if native}
        for outcome in judge(exchanges, None, load()).found():
            assert outcome.status is not Status.ERRORED, outcome.reason
            for finding in outcome.findings:
                number = int(finding.at.split("/")[1])
                record, native = records[number], natives[number]
                assert native is not None
                bodies = {"request": native.request, "response": _body(native)}
                assert resolve(bodies, finding.at.removeprefix(f"/{number}")) is not None
                if finding.level is Level.MUST and finding.side == "client" and record["status"] == 200:
                    found[outcome.rule, record["source_repo"]] += 1
    assert 1155 == count
    assert MUSTS == dict(found)


def _body(native: Any) -> Any:
    return [event.value for event in native.events] or native.response


REFUSED = {
    "responses.jsonl:30": "Invalid schema for response_format 'response': In context=(), 'additionalProperties' is "
    "required to be supplied and to be false.",
    "responses.jsonl:959": "Missing required parameter: 'tools[0].name'.",
    "responses.jsonl:1001": "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and "
    "'user'.",
}


@pytest.mark.parametrize("ref", REFUSED)
def test_a_recorded_refusal_is_predicted_in_its_words(shared: Path, ref: str) -> None:
    record = next(each for each in recorded(shared, "responses") if each["ref"] == ref)
    outcomes = check(exchange(record, ref), "openai")
    predicted = [each.refusal for outcome in outcomes for each in outcome.findings if each.refusal]
    assert REFUSED[ref] == record["response"]["error"]["message"]
    assert REFUSED[ref] in [refusal.message for refusal in predicted]


STATED = [
    (
        "responses-session",
        {"/1/request/input/1": REMOVE},
        "Item 'fc_01' of type 'function_call' was provided without its required 'reasoning' item: 'rs_01'.",
    ),
    (
        "responses-request",
        {"/0/request/input/4": REMOVE, "/0/request/input/3": REMOVE, "/0/request/input/2": REMOVE},
        "Item 'rs_01' of type 'reasoning' was provided without its required following item.",
    ),
    (
        "responses-session",
        {"/1/request/input/1/encrypted_content": "b3RoZXI="},
        (
            "The encrypted content for item rs_01 could not be verified. "
            "Reason: Encrypted content could not be decrypted or parsed."
        ),
    ),
    (
        "responses-session",
        {"/1/request/input/1/id": "rs_new"},
        (
            "The encrypted content for item rs_new could not be verified. "
            "Reason: Encrypted content item_id did not match the target item id."
        ),
    ),
    (
        "responses-request",
        {"/0/request/input/2/id": "call_70"},
        "Invalid 'input[2].id': 'call_70'. Expected an ID that begins with 'fc'.",
    ),
    (
        "responses-session",
        {"/1/request/input/5/call_id": 81 * "x", "/1/request/input/3/call_id": 81 * "x"},
        (
            "Invalid 'input[3].call_id': string too long. "
            "Expected a string with maximum length 64, but got a string with length 81 instead."
        ),
    ),
    ("responses-session", {"/1/request/input/5": REMOVE}, "No tool output found for function call call_b."),
    (
        "responses-session",
        {"/2/request/input/4/call_id": "call_z"},
        "No tool call found for function call output with call_id call_z.",
    ),
    (
        "responses-session",
        {"/1/request/input/3/id": "fc_01"},
        "Duplicate item found with id fc_01. Remove duplicate items from your input and try again.",
    ),
    (
        "responses-held-session",
        {"/0/response/store": False},
        "Previous response with id 'resp_01' not found.",
    ),
]


@pytest.mark.parametrize(("base", "edits", "message"), STATED)
def test_a_documented_refusal_is_predicted_in_its_words(base: str, edits: dict[str, Any], message: str) -> None:
    found = [each for outcome in check(conversation(base, edits), "openai") for each in outcome.findings]
    assert message in [each.refusal.message for each in found if each.refusal]


@pytest.mark.parametrize("name", ["openai", "openrouter", "xai", "groq", "azure_openai", "gemini_native", "messages"])
def test_recordings_of_other_wires_are_not_taken_for_responses(shared: Path, name: str) -> None:
    taken = {wires.of(exchange(record, name)).name for record in recorded(shared, name)}
    assert "responses" not in taken
