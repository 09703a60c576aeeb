"""Only a recording that shows the value of a claim confirms it: by kinds of evidence, by values, by fixtures."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles
from conformance.evidence import calibration, entries, index
from conformance.evidence.calibration import calibrate
from conformance.evidence.compared import ComparedExchange, compare
from conformance.evidence.index import IndexedRecording, PublicFile
from conformance.evidence.reading import exchanges
from conformance.formats import Input
from conformance.observations.sights import digest
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from tests.checking import BASES, jsonl, write
from tests.loops import every

ASKED, CALLED = (BASES["tool-call"][0][each] for each in ("request", "response"))
PLAIN = BASES["plain"][0]["response"]
STREAM = BASES["stream-plain"][0]["response"]
ASSISTANT = {"role": "assistant", "content": "Hello", "reasoning_content": "Hm."}


def seen(claims: dict[str, Any], reply: Any, request: Any = ASKED, status: int = 200) -> ComparedExchange:
    text = "".join(each if isinstance(each, str) else f"data: {json.dumps(each)}\n\n" for each in reply)
    response = text if isinstance(reply, list) else reply
    exchange = Exchange(request, response, status, model="m", date="2026-01-01")
    (found,) = compare(Input("a", None, "exchange", (exchange,)), profiles.of(claims, "fake"))
    return found


def with_message(**members: Any) -> dict[str, Any]:
    choice = PLAIN["choices"][0]
    return {**PLAIN, "choices": [{**choice, "message": {**choice["message"], **members}}]}


REASONED = with_message(reasoning_content="Hm.")
SEALED = with_message(reasoning_text="Hm.", reasoning_opaque="c2ln")


@every(
    ("claim", "value", "reply", "confirms"),
    [
        ("reasoning.response-field", "reasoning_content", REASONED, True),
        ("reasoning.response-field", "reasoning_content", PLAIN, False),
        ("reasoning.response-field", ["reasoning", "reasoning_content"], REASONED, True),
        ("reasoning.response-field", "reasoning", REASONED, False),
        ("reasoning.response-field", "reasoning_text", SEALED, True),
        ("signature.field", "reasoning_opaque", SEALED, True),
        ("ids.format", "call_[a-z]+", CALLED, True),
        ("ids.format", "call_[a-z]+", PLAIN, False),
        ("ids.format", "[0-9]+", CALLED, False),
        ("tools.supported", True, CALLED, True),
        ("tools.supported", True, PLAIN, False),
        ("finish.with-calls", "tool_calls", CALLED, True),
        ("finish.with-calls", "stop", CALLED, False),
        ("finish.reasons", ["stop"], PLAIN, True),
        ("stream.done", True, STREAM, True),
        ("stream.done", True, STREAM[:-1], False),
        ("stream.done", True, PLAIN, False),
        ("stream.comments", True, STREAM, False),
        ("stream.comments", True, [": hello\n\n", *STREAM], True),
        ("reply.object", "chat.completion", PLAIN, True),
        ("reply.object", "reply", PLAIN, False),
        ("usage.total", "prompt+completion", PLAIN, True),
        ("usage.total", "larger", PLAIN, False),
    ],
)
def test_a_reply_confirms_a_claim_only_if_it_shows_its_value(
    *, claim: str, value: Any, reply: Any, confirms: bool
) -> None:
    assert confirms is (claim in seen({claim: value}, reply).confirmed)


@pytest.mark.parametrize(("value", "confirmed", "answered"), [("accepted", True, False), ("ignored", False, True)])
def test_an_answer_shows_that_a_deviation_is_accepted_but_not_that_it_is_ignored(
    *, value: str, confirmed: bool, answered: bool
) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, ASSISTANT]}
    found = seen({"reasoning.on-plain-turn": value}, PLAIN, request)
    assert (confirmed, answered) == tuple(
        "reasoning.on-plain-turn" in each for each in (found.confirmed, found.answered)
    )


def test_a_claimed_refusal_is_not_confirmed_by_an_answer() -> None:
    request = {"model": "m", "messages": [{"role": "developer", "content": "Hi"}]}
    refused = {"request.developer-role": {"status": 400}}
    assert set() == seen(refused, PLAIN, request).confirmed
    assert {"request.developer-role"} == seen(refused, {"error": {"message": "No."}}, request, 400).confirmed


def test_another_value_is_counted_apart() -> None:
    assert {"reply.object"} == seen({"reply.object": "reply"}, PLAIN).otherwise


def test_each_count_is_stored_with_its_value_section_and_time(tmp_path: Path) -> None:
    lines = [
        {"provider": "deepseek", "request": {**ASKED, "model": model}, "response": CALLED, "status": 200, "date": day}
        for model, day in (("deepseek-chat", "2025-02-01"), ("deepseek-v4-flash", "2026-05-01"))
    ]
    held = calibrate([str(write(tmp_path / "a.jsonl", jsonl(*lines)))]).evidence("deepseek")
    modes = [each for each in held["claims"] if each["claim"] == "thinking.mode"]
    (mode,) = [each for each in modes if "confirmed" in each]
    expected = {"claim": "thinking.mode", "model": "deepseek-chat", "until": "2025-12-01", "value": "never"}
    assert expected | {"confirmed": [0]} == mode


@pytest.mark.exhaustive
def test_the_cassettes_of_the_simulator_confirm_nothing(tmp_path: Path) -> None:
    cassettes = folder("cassettes") / "deepseek" / "deepseek-flash"
    alone = tmp_path / "copied.yaml"
    shutil.copy(cassettes / "plain-answer.plain.yaml", alone)
    for path in (cassettes, alone):
        held = calibrate([str(path)], "deepseek")
        evidence = held.evidence("deepseek")
        assert (0, [], []) == (evidence["recordings"], evidence["claims"], evidence["exchanges"])
        assert evidence["simulated"] > 0
        assert () == held.failures()


def test_the_manifest_says_what_is_simulated_even_without_a_header(tmp_path: Path) -> None:
    source = folder("cassettes") / "deepseek"
    target = tmp_path / "deepseek" / "deepseek-flash"
    target.mkdir(parents=True)
    shutil.copy(source / "manifest.yaml", tmp_path / "deepseek" / "manifest.yaml")
    text = (source / "deepseek-flash" / "plain-answer.plain.yaml").read_text()
    (target / "plain-answer.plain.yaml").write_text(text.replace("conformance-simulator", "nginx"))
    assert [] == calibrate([str(target)]).evidence("deepseek")["claims"]


def test_the_cassettes_of_an_engine_confirm_as_engine_only() -> None:
    cassettes = folder("cassettes") / "vllm" / "scripted-qwen3-0.002b"
    evidence = calibrate([str(cassettes / "one-tool-call.plain.yaml")]).evidence("vllm")
    assert (0, []) == (evidence["recordings"], evidence["exchanges"])
    assert {"tools.supported"} <= {each["claim"] for each in evidence["claims"] if each.get("engine")}
    assert [] == [each for each in evidence["claims"] if each.keys() & set(entries.KINDS)]


@pytest.mark.parametrize("reason", ["", "written by hand", index.REDACTED])
def test_a_contradiction_by_a_fixture_is_an_artefact_with_its_reason(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"provider": "deepseek", "request": ASKED, "response": STREAM[:-1], "status": 200, "date": "2026-05-01"}
    path = write(tmp_path / "a.jsonl", jsonl(record))
    ((_, exchange, _),) = exchanges(path.read_bytes(), str(path))
    known = digest(exchange)
    held = {known: IndexedRecording(PublicFile("a/b", "0" * 40, "c"), 0, known, "deepseek", fixture=reason)}
    monkeypatch.setattr(index, "by_digest", lambda: held)
    monkeypatch.setattr(calibration, "by_digest", lambda: held)
    found = calibrate([str(path)])
    (done,) = [each for each in found.evidence("deepseek")["claims"] if each["claim"] == "stream.done"]
    is_artefact = reason == "written by hand"
    assert ([[0, reason]] if is_artefact else None) == done.get("artefacts")
    assert (None if is_artefact else [0]) == done.get("contradicted")
    assert (0 if is_artefact else 1) == len(found.failures())
    assert ([reason] if is_artefact else []) == [each for _, each in found.artefacts()]
    assert is_artefact is not any("confirmed" in each for each in found.evidence("deepseek")["claims"])


def test_chunks_alone_say_nothing_of_what_surrounds_them(tmp_path: Path) -> None:
    chunks = [each for each in STREAM if not isinstance(each, str)]
    found = calibrate([str(write(tmp_path / "a.jsonl", jsonl(*chunks)))], "deepseek").evidence("deepseek")
    confirmed = {each["claim"] for each in found["claims"] if "confirmed" in each}
    assert "finish.reasons" in confirmed
    assert set() == confirmed & set(index.FRAMING)
