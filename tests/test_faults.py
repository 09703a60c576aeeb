"""The catalogue of faults, and what a simulator with faults sends over HTTP."""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import orjson
import pytest

from conformance import core_facts, faults, profiles, rules, scenarios
from conformance.cli import main
from conformance.errors import UnknownName
from conformance.faults import GOOD, Outgoing, ServerFault
from conformance.judge import check
from conformance.results import Evidence, Status
from conformance.results.comparisons import COMPARISONS
from conformance.simulator import simulated
from conformance.simulator.faulty import with_faults
from conformance.suite.options import on_wire
from conformance.suite.turns import Subject, converse
from conformance.suite.visible_faults import visible_faults
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpReply, HttpRequest
from tests.checking import ROOT
from tests.faults.playing import ENDED, ENDED_BY_MODEL, STOPPED
from tests.loops import every

ALL = [faults.load(name) for name in faults.names()]
SERVED = [
    ("index-zero", "chat", "zai", "stream/index-distinct"),
    ("finish-stop-with-calls", "messages", "anthropic", "response/finish-reason-matches-tool-calls"),
    ("ids-equal", "responses", "openai", "tool-calls/id-unique-in-reply"),
    ("cut", "gemini", "gemini", "native/stream-complete"),
]
"""Faults by wire, a provider of that wire, and the rule that reports the fault in a stream of parallel calls."""


def known_causes() -> Iterator[str]:
    yield from rules.by_id()
    yield from [f"core/{each.name}" for each in core_facts.DEFINITIONS]
    every_scenario = [scenarios.load(name) for name in scenarios.names()]
    yield from [f"probes/{probe.name}" for scenario in every_scenario for probe in scenario.probes]
    yield from [f"probes/{name}" for name in COMPARISONS]
    yield from (ENDED, ENDED_BY_MODEL, STOPPED)


@every("fault", ALL, ids=lambda fault: fault.name)
def test_a_fault_cites_a_report_and_names_what_can_report_it(fault: ServerFault) -> None:
    known = set(known_causes())
    assert re.fullmatch(r"https://[^/]+/\S+", fault.source)
    assert re.fullmatch(r"[A-Z].*\.", fault.title)
    assert {*fault.wires} == fault.breaks.keys()
    named = [each.partition(": ")[0] for causes in fault.breaks.values() for each in causes]
    assert [] == [each for each in named if not any(fnmatchcase(cause, each) for cause in known)]
    assert not (fault.harmless and named)


@cache
def broken(wire: str, provider: str, names: tuple[str, ...]) -> frozenset[str]:
    """Return the rules that a stream of parallel calls breaks, over HTTP."""
    served = profiles.load_profile(provider)
    profile = on_wire(served, wire)
    with (
        simulated(served, faults=[faults.load(name) for name in names]) as url,
        Client(Endpoint(f"{url}/v1", "key", wire=wire, exclusive=True)) as client,
    ):
        subject = Subject(profile, profile.model, client.send, Evidence.SIMULATED)
        played = tuple(converse(scenarios.load("parallel-tool-calls"), "stream", subject).exchanges)
    assert played
    return frozenset({each.rule for each in check(played, profile) if each.status is Status.FAILED})


@every(("name", "wire", "provider", "rule"), SERVED)
def test_a_served_fault_breaks_its_rule_over_http(name: str, wire: str, provider: str, rule: str) -> None:
    assert rule not in broken(wire, provider, ())
    assert rule in broken(wire, provider, (name,))


REQUEST = HttpRequest("POST", "/v1/chat/completions", {}, b'{"model": "m", "messages": []}')


def answered(number: int) -> HttpReply:
    body = {"id": f"chatcmpl-{number}", "choices": []}
    return HttpReply(200, orjson.dumps(body), {"content-type": "application/json"})


def test_a_fault_sees_the_request_and_the_replies_before_without_faults() -> None:
    seen: list[Outgoing] = []

    def change(sent: Outgoing) -> Outgoing:
        seen.append(sent)
        return sent._replace(body={"changed": True})

    fault = ServerFault("x", "X.", "", ("chat",), faults.BOTH, {"chat": ()}, (), change)
    numbers = iter(range(100))
    answer = with_faults(lambda _request: answered(next(numbers)), [fault])
    sent = [answer(REQUEST).body for _ in range(3)]
    assert [b'{"changed":true}'] * 3 == sent
    assert [{"model": "m", "messages": []}] * 3 == [each.request for each in seen]
    assert ["chatcmpl-0", "chatcmpl-1"] == [each.body["id"] for each in seen[-1].earlier]
    assert [()] * 2 == [each.earlier for each in seen[-1].earlier]


def test_a_fault_sees_a_limited_number_of_replies() -> None:
    seen: list[int] = []

    def change(sent: Outgoing) -> Outgoing:
        seen.append(len(sent.earlier))
        return sent

    fault = ServerFault("x", "X.", "", ("chat",), faults.BOTH, {"chat": ()}, (), change)
    answer = with_faults(lambda _request: answered(0), [fault])
    for _ in range(70):
        answer(REQUEST)
    assert [*range(64), 64, 64, 64, 64, 64, 64] == seen


def test_a_reply_that_a_fault_leaves_alone_is_sent_to_the_byte() -> None:
    fault = ServerFault("x", "X.", "", ("chat",), faults.BOTH, {"chat": ()}, (), lambda sent: sent)
    reply = HttpReply(200, b'\n\n{ "choices": [] }', {"content-type": "application/json"})
    assert reply is with_faults(lambda _request: reply, [fault])(REQUEST)


@every(("on", "status", "changed"), [(GOOD, 200, True), (GOOD, 400, False), (faults.REFUSED, 200, False),
    (faults.REFUSED, 400, True), (faults.ANY, 200, True), (faults.ANY, 400, True)])  # fmt: skip
def test_a_fault_changes_good_replies_or_refusals(on: str, status: int, *, changed: bool) -> None:
    fault = ServerFault("x", "X.", "", ("chat",), faults.BOTH, {"chat": ()}, (), lambda sent: sent, on)
    assert changed == fault.exists(Outgoing("chat", {}, status=status))


def test_every_wire_and_variant_has_faults() -> None:
    assert {"chat", "messages", "responses", "gemini"} == {wire for fault in ALL for wire in fault.wires}
    assert {*faults.BOTH} == {variant for fault in ALL for variant in fault.variants}


def test_the_catalogue_has_at_least_120_faults_and_30_on_each_wire() -> None:
    counted = [fault for fault in ALL if not fault.harmless]
    assert 120 <= len(counted)
    for wire in ("chat", "messages", "responses", "gemini"):
        assert 30 <= sum(wire in fault.wires for fault in counted)


def test_an_unknown_fault_is_reported_with_similar_names() -> None:
    with pytest.raises(UnknownName, match="unknown fault 'index-zer'; did you mean index-zero"):
        faults.load("index-zer")


def test_the_command_lists_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["serve", "--provider", "deepseek", "--fault", "list"])
    lines = capsys.readouterr().out.splitlines()
    assert list(faults.names()) == [line.split()[0] for line in lines]
    assert any(
        re.fullmatch(r"index-zero +All calls of a streamed reply have index 0\. \(chat\)", each) for each in lines
    )


def test_the_command_refuses_an_unknown_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["serve", "--provider", "deepseek", "--fault", "index-zer"])
    assert "unknown fault 'index-zer'; did you mean index-zero" in capsys.readouterr().err


def test_the_report_has_every_fault() -> None:
    data = json.loads((ROOT / "reports" / "faults.json").read_text("utf-8"))
    wanted = {(wire, fault.name) for fault in ALL for wire in fault.wires}
    assert wanted == {(wire, name) for wire, each in data.items() for name in each["faults"]}


ROW = {"harmless": False, "verdict": "own", "whole": True}
KNOWN = {
    "chat": {
        "faults": {
            "a": {**ROW, "variants": {"plain": {"verdict": "own", "cases": ["one.plain", "two.plain"]}}},
            "b": {**ROW, "variants": {"stream": {"verdict": "own", "cases": ["one.stream"]}}},
            "c": {**ROW, "variants": {"plain": {"verdict": "own", "cases": []}}},
            "d": {**ROW, "verdict": "green", "variants": {"plain": {"verdict": "green", "cases": []}}},
            "e": {**ROW, "verdict": "absent", "variants": {"plain": {"verdict": "absent", "cases": []}}},
            "f": {**ROW, "verdict": "green", "harmless": True, "variants": {}},
        }
    }
}
SAID = [
    (("one.plain", "one.stream"), True, "3 of 4 known faults of providers; not these: d."),
    (("one.plain", "one.stream"), False, "2 of 4 known faults of providers; not these: c, d."),
    (("two.plain",), False, "1 of 4 known faults of providers; not these: b, c, d."),
    ((), False, "0 of 4 known faults of providers; not these: a, b, c, d."),
]


@every(("played", "is_whole", "said"), SAID)
def test_a_run_says_which_faults_its_cases_can_see(
    played: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_whole: bool
) -> None:
    (tmp_path / "faults.json").write_bytes(orjson.dumps(KNOWN))
    monkeypatch.setattr("conformance.suite.visible_faults.folder", lambda _name: tmp_path)
    assert f"This run can see {said}" == visible_faults("chat", played, 200, is_whole=is_whole)


def test_a_part_of_a_run_claims_nothing_if_the_faults_were_not_played_in_all_cases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    faults_of_chat = {name: {**each, "whole": False} for name, each in KNOWN["chat"]["faults"].items()}
    (tmp_path / "faults.json").write_bytes(orjson.dumps({"chat": {"faults": faults_of_chat}}))
    monkeypatch.setattr("conformance.suite.visible_faults.folder", lambda _name: tmp_path)
    said = "A run of all cases can see 3 of 4 known faults of providers (reports/faults.md)."
    assert said == visible_faults("chat", ("one.plain",), 200, is_whole=False)


def test_nothing_is_said_of_a_wire_without_results() -> None:
    assert "" == visible_faults("wire-of-nobody", (), 80, is_whole=True)
