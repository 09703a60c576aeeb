"""What the proxy makes of the copies: conversations, findings once each, cassettes without keys, layers."""

import copy as copies
import io
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import profiles
from conformance.documents.pointer import REMOVE, edit
from conformance.proxy import checking, conversations, judging, tally
from conformance.proxy.copies import Copy, Frame, read_frame
from conformance.proxy.passing import LEFT, TRAILERS, UNENCODED
from conformance.proxy.tape import Tape
from conformance.reporting.renderers import traffic
from conformance.results import Evidence, Level, Status
from conformance.results.files import read as read_results
from conformance.terminal import StatusTable
from tests.checking import BASES, FAULTY, check
from tests.proxies import KEY, texts
from tests.traffic import URL, Lines, checked, copy_of, frame_of

EVENTS = ("response.created", "response.completed")
SESSION = BASES["thinking-session"]
RULE = "reasoning/resent-on-tool-turns"


def forgetful(session: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a session whose client does not send reasoning back."""
    changed = copies.deepcopy(list(session))
    for exchange in changed:
        for message in exchange["request"]["messages"]:
            message.pop("reasoning_content", None)
    return changed


def test_a_session_is_one_conversation_without_findings() -> None:
    found, lines = checked([copy_of(each) for each in SESSION])
    assert [] == lines
    assert len(SESSION) == found.tally.checked
    assert 1 == sum(model.conversations for model in found.tally.models.values())


def test_a_finding_names_conversation_place_and_side_and_is_printed_once() -> None:
    found, lines = checked([copy_of(each) for each in forgetful(SESSION)])
    assert 2 == len(lines)
    assert lines[0].startswith(f"conversation-0001 (example-model): {RULE} MUST (client) at /1/request/messages/2: ")
    # The third request also lacks what the second lacked, which is not a further finding.
    assert lines[1].startswith(f"conversation-0001 (example-model): {RULE} MUST (client) at /2/request/messages/5: ")
    assert 2 == found.tally.levels[Level.MUST]


def test_sessions_at_the_same_time_stay_apart() -> None:
    first = [copy_of(each) for each in SESSION]
    other = [
        copy_of(json.loads(json.dumps(each).replace("Paris", "Quito").replace('"call_', '"call_x'))) for each in SESSION
    ]
    mixed = list(itertools.chain.from_iterable(zip(first, other, strict=True)))
    found, lines = checked(mixed)
    assert [] == lines
    assert 2 == sum(model.conversations for model in found.tally.models.values())


def test_the_same_beginning_twice_is_two_conversations() -> None:
    found, _ = checked([copy_of(SESSION[0]), copy_of(SESSION[0]), *[copy_of(each) for each in SESSION[1:]]])
    assert 2 == sum(model.conversations for model in found.tally.models.values())


def test_a_request_that_is_rejected_again_is_no_further_conversation() -> None:
    refused = edit(FAULTY, {"/status": 400, "/response": {"error": {"message": "no", "type": "t"}}})
    found, lines = checked([copy_of(refused), copy_of(refused)])
    assert 1 == sum(model.conversations for model in found.tally.models.values())
    assert len(set(lines)) == len(lines)


def test_a_header_decides_which_conversation_it_is() -> None:
    unrelated = [BASES["plain"][0], BASES["tool-call"][0], BASES["plain"][0]]
    names = ("a", "a", "b")
    given = [copy_of(each, X_Session=name) for each, name in zip(unrelated, names, strict=True)]
    found, _ = checked(given, header="x-session")
    assert 2 == sum(model.conversations for model in found.tally.models.values())


def test_a_long_conversation_keeps_its_last_exchanges_and_counts_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "MAX_BYTES", 1000)
    history = copies.deepcopy(SESSION[0])
    given = []
    for number in range(6):
        given.append(copies.deepcopy(history))
        given[-1]["response"]["choices"][0]["message"] = {"role": "assistant", "content": f"Answer {number}"}
        given[-1]["response"]["choices"][0]["finish_reason"] = "stop"
        messages = history["request"]["messages"]
        messages += [{"role": "assistant", "content": f"Answer {number}"}, {"role": "user", "content": "More"}]
    given[5]["response"]["choices"][0]["finish_reason"] = 7
    found, lines = checked([copy_of(each) for each in given])
    assert any("at /5/response/choices/0" in line for line in lines)
    assert 1 == sum(model.conversations for model in found.tally.models.values())


def test_old_conversations_are_ended_and_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(conversations, "MAX_OPEN", 1)
    with Tape(tmp_path, URL, "deepseek", "2026-11-22", print) as tape:
        checked([copy_of(BASES["plain"][0]), copy_of(BASES["tool-call"][0])], tape=tape)
    assert 2 == len(list(tmp_path.rglob("conversation-*.yaml")))


def test_cassettes_and_results_hold_no_key_and_can_be_checked(tmp_path: Path) -> None:
    session = json.loads(json.dumps(forgetful(SESSION)).replace("Paris", f"Paris {KEY}"))
    with Tape(tmp_path / "tapes", URL, "deepseek", "2026-11-22", print) as tape:
        given = [copy_of(each) for each in session]
        _, lines = checked(given, "deepseek", tape=tape, results=str(tmp_path / "results"))
    assert KEY not in texts(tmp_path)
    assert KEY.removeprefix("sk-proj-") not in texts(tmp_path)
    assert any(RULE in line for line in lines)
    manifest = yaml.safe_load((tmp_path / "tapes/deepseek/manifest.yaml").read_text())
    assert ("recorded", "api.deepseek.com") == tuple(
        manifest["models"]["example-model"][key] for key in ("evidence", "host")
    )
    (cassette,) = tmp_path.rglob("conversation-*.yaml")
    assert 0o600 == cassette.stat().st_mode & 0o777
    code, out, _ = check("--provider", "deepseek", cassette)
    assert 1 == code
    assert f"{RULE} MUST (client) at /1/request/messages/2" in out
    by_name = {path.stem: read_results(path) for path in (tmp_path / "results").iterdir()}
    assert {"deepseek.example-model", "client.example-model"} == set(by_name)
    results = by_name["client.example-model"]
    assert {("traffic", "plain", Evidence.LIVE)} == {
        (each.scenario, each.variant, each.evidence) for each in results.cases
    }
    failed = [each for each in results.cases[0].outcomes if each.status is Status.FAILED]
    assert [RULE] == [each.rule for each in failed]
    # What the client did wrong is not a result of the provider.
    of_provider = [each for case in by_name["deepseek.example-model"].cases for each in case.outcomes]
    assert of_provider
    assert RULE not in [each.rule for each in of_provider]


def test_what_cannot_be_checked_is_counted_with_its_reason() -> None:
    models = Copy(0, "GET", f"{URL}?key={KEY}".replace("/chat/completions", "/models"), [], b"", 200, "OK", [], b"{}")
    lost = Copy(0, "POST", URL, [], b"", lost=LEFT)
    packed = Copy(0, "POST", URL, [], b"{}", 200, "OK", [("Content-Encoding", "gzip")], b"\x1f\x8bnonsense")
    found, lines = checked([models, models, lost, packed])
    assert {
        "neither a chat completion nor another wire that is known: GET /models": 2,
        LEFT: 1,
    }.items() <= found.tally.unchecked.items()
    assert 4 == found.tally.unchecked.total()
    assert [] == lines
    shown = "\n".join(traffic.summary(found.tally, {}, "deepseek", [], lambda _, text: text))
    assert "  2 × neither a chat completion nor another wire that is known: GET /models" in shown
    assert "nothing was checked" in shown


def test_what_claims_of_the_provider_describe_is_counted_once_for_each_exchange() -> None:
    without = {f"/{number}/response/object": REMOVE for number in range(len(SESSION))}
    given = edit(SESSION, without)
    profile = profiles.of({"reply.object": "absent"})
    found = checking.Checking(checking.Settings((("", URL),), "2026-11-24"), profile, Lines())
    for each in given:
        found.take(frame_of(copy_of(each)))
    assert Counter({("reply.object", "shape/response"): len(SESSION)}) == found.tally.known
    lines = list(traffic.summary(found.tally, {}, "zai", [], lambda _, text: text))
    assert f"known of zai: {len(SESSION)} × reply.object (shape/response)" in lines
    assert "no findings" in lines


def test_what_passed_without_its_trailers_is_counted() -> None:
    whole = copy_of(BASES["plain"][0])
    found, _ = checked(
        [whole, replace(whole, missing=(TRAILERS,)), replace(whole, lost=LEFT, missing=(TRAILERS, UNENCODED))]
    )
    shown = "\n".join(traffic.summary(found.tally, {}, "deepseek", [], lambda _, text: text))
    assert "2 exchanges passed without some trailers" in shown
    assert "1 exchange passed without some bytes of headers, which are not UTF-8" in shown


def test_a_session_on_another_wire_is_checked_and_one_conversation() -> None:
    tool = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    asked = [{"role": "user", "content": "Hi"}]
    first = {"model": "claude", "max_tokens": 9, "messages": asked}
    reply = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "content": [tool],
             "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "x"}]}
    second = {**first, "messages": [*asked, {"role": "assistant", "content": [tool]}, result]}
    given = [copy_of({"request": each, "response": reply}) for each in (first, second)]
    given = [replace(each, url="https://api.anthropic.com/v1/messages") for each in given]
    found, lines = checked(given)
    assert 2 == found.tally.checked
    assert any(
        line.startswith("conversation-0001 (claude): transcript/") and "(client) at /1/" in line for line in lines
    )
    assert 1 == found.tally.models["claude"].conversations


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("named", "again"),
    [
        ({}, {"previous_response_id": "resp_1"}),
        ({"conversation": "conv_1"}, {"conversation": "conv_1"}),
        ({"conversation": {"id": "conv_1"}}, {"conversation": "conv_1"}),
    ],
)
def test_a_request_continues_the_response_or_conversation_that_it_names(
    named: dict[str, Any], again: dict[str, Any], *, streamed: bool
) -> None:
    reply = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": []}
    events = [f"event: {name}\ndata: {json.dumps({'type': name, 'response': reply})}\n\n" for name in EVENTS]
    first = {"model": "m", "input": "Hi", "stream": streamed, **named}
    second = {**first, "input": "And now?", **again}
    given = [copy_of({"request": each, "response": events if streamed else reply}) for each in (first, second)]
    found, _ = checked([replace(each, url="https://api.openai.com/v1/responses") for each in given])
    assert 2 == found.tally.checked
    assert 1 == found.tally.models["m"].conversations


def test_many_findings_of_a_rule_in_one_exchange_are_counted_and_not_all_printed() -> None:
    odd = [{"role": "user", "content": "x", f"key_{number}": 1} for number in range(7)]
    found, lines = checked([copy_of(edit(BASES["plain"][0], {"/request/messages": odd}))])
    shown = [line for line in lines if "request/no-unknown-fields" in line]
    assert 4 == len(shown)
    assert "conversation-0001: request/no-unknown-fields: and 4 more findings in exchange 0" == shown[-1]
    assert 7 == found.tally.levels[Level.SHOULD]


def test_a_cut_reply_is_the_fault_of_the_provider() -> None:
    exchange = copy_of(BASES["plain"][0])
    cut = Copy(
        0, "POST", URL, exchange.sent_headers, exchange.sent, 200, "OK", exchange.headers, exchange.received[:40],
        "one that ended early, after 40 bytes",
    )  # fmt: skip
    _, lines = checked([cut])
    assert any("http/body-complete MUST (provider)" in line for line in lines)


def test_the_number_of_models_and_reasons_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MAX_MODELS", 3)
    many = [copy_of(edit(BASES["plain"][0], {"/request/model": f"m{number}"})) for number in range(6)]
    found, _ = checked(many)
    assert {"m0", "m1", "m2", "other models"} == set(found.tally.models)
    assert 6 == found.tally.checked


def test_further_keys_replace_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MAX_KEYS", 4)
    given = [copy_of(BASES["plain"][0], X_Api_Key=f"key-number-{number}-of-many") for number in range(9)]
    found, _ = checked(given)
    assert "key-number-8-of-many" in found.scrubber.secrets
    assert "key-number-2-of-many" not in found.scrubber.secrets


TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]


class TestLayers:
    """Two taps: what the client sends and gets, and what the gateway sends and gets."""

    def test_a_field_that_the_gateway_removes_is_named_and_its_fault_is_the_gateways(self) -> None:
        behind = forgetful(SESSION)
        given = []
        for before, after in zip(SESSION, behind, strict=True):
            given += [copy_of(after, tap=1), copy_of(before, tap=0)]
        found, lines = checked(given)
        assert any(f"at back: {RULE} MUST (gateway) at /1/request/messages/" in line for line in lines)
        assert "gateway: /request/messages/*/reasoning_content removed" in lines
        assert len(SESSION) == found.layers.matched

    def test_what_is_lost_between_the_taps_is_a_finding_with_both_places(self) -> None:
        session = [edit(each, {"/request/tools": TOOLS}) for each in SESSION]
        given = []
        for before, after in zip(session, SESSION, strict=True):
            given += [copy_of(after, tap=1), copy_of(before, tap=0)]
        found, lines = checked(given)
        shown = [line for line in lines if "gateway/tools-kept MUST (gateway)" in line]
        assert len(shown) == len(SESSION)
        assert (
            "at /0/front/request/tools/0, after it /0/back/request/tools: expected the tool now, got none" in shown[0]
        )
        assert found.tally.levels[Level.MUST] >= len(SESSION)

    def test_a_loss_on_another_wire_is_found(self) -> None:
        (first,) = [each for each in SESSION if "reasoning_content" in each["response"]["choices"][0]["message"]][:1]
        without = edit(first, {"/response/choices/0/message/reasoning_content": REMOVE})
        _, lines = checked([copy_of(first, tap=1), copy_of(without, tap=0)])
        assert any("gateway/reasoning-kept MUST (gateway) at /0/back/response" in line for line in lines)

    def test_a_fault_on_both_sides_is_the_clients(self) -> None:
        given = []
        for exchange in forgetful(SESSION):
            given += [copy_of(exchange, tap=1), copy_of(exchange, tap=0)]
        _, lines = checked(given)
        assert [] == [line for line in lines if line.startswith("gateway:")]
        assert 2 == len(lines)
        assert all(f"at front: {RULE} MUST (client)" in line for line in lines)

    @pytest.mark.parametrize(("taps", "layer"), [((0,), "gateway"), ((0, 1), "provider"), ((1,), "provider")])
    def test_a_faulty_reply_is_the_fault_of_the_layer_that_made_it(self, taps: tuple[int, ...], layer: str) -> None:
        good = BASES["plain"][0]
        bad = edit(good, {"/response/choices/0/finish_reason": 7})
        given = [copy_of(bad if tap in taps else good, tap=tap) for tap in (1, 0)]
        found, lines = checked(given)
        changed = [line for line in lines if ": gateway/stop-reason-kept MUST (gateway)" in line]
        (shown,) = [line for line in lines if not line.startswith("gateway:") and line not in changed]
        assert f"at {'front' if layer == 'gateway' else 'back'}: shape/choice MUST ({layer})" in shown
        assert len(changed) == (len(taps) == 1)
        assert {Level.MUST: 1 + len(changed)} == found.tally.levels

    def test_exchanges_are_matched_by_a_header_if_one_is_named(self) -> None:
        other = edit(BASES["plain"][0], {"/request/messages/0/content": "rewritten by the gateway"})
        given = [copy_of(other, tap=1, X_Request_Id="7"), copy_of(BASES["plain"][0], tap=0, X_Request_Id="7")]
        found, lines = checked(given, correlate="x-request-id")
        assert 1 == found.layers.matched
        assert "gateway: /request/messages/*/content changed" in lines

    def test_an_exchange_without_counterpart_is_reported_without_a_layer_for_the_client(self) -> None:
        _, lines = checked([copy_of(edit(BASES["plain"][0], {"/request/messages": REMOVE}), tap=1)])
        assert any("at back: " in line and "(client)" in line for line in lines)


def test_frames_end_where_the_other_process_died() -> None:
    whole = b"".join(copy_of(BASES["plain"][0]).frame())
    for end in (0, 5, 20, len(whole) - 1):
        assert read_frame(io.BytesIO(whole[:end])) is None


def test_headers_that_are_no_text_cross_the_pipe() -> None:
    given = Copy(0, "POST", URL, [("X-A", "\udcff")], b"", 200, "", [], b"")
    assert [("X-A", "?")] == frame_of(given).copy().sent_headers


def test_the_table_shows_each_model() -> None:
    found, _ = checked([copy_of(each) for each in forgetful(SESSION)])
    found.take(Frame("state", {"passed": 9, "dropped": 3, "open": 2}, b"", b""))
    shown = traffic.table(found.tally)
    assert "example-model" in shown
    assert "2 requests under way, 0 not checked, 3 not checked for lack of time" in shown


def test_the_table_is_drawn_over_and_over_and_gone_at_the_end() -> None:
    output = io.StringIO()
    shown = StatusTable(output, shows=True)
    shown.show("a\nb")
    shown.show("too soon")
    shown.clear()
    assert "a\nb\n\x1b[2A\x1b[J" == output.getvalue()
