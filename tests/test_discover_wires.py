"""Discovery and drift on other wires than chat completions, against the simulator of each provider that has one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import load_profile
from conformance.cli import main
from conformance.discovery import further, shipped, wires
from conformance.discovery.discovering import Discovery
from conformance.discovery.exploring import all_cases
from conformance.discovery.interview import Interview
from conformance.discovery.shipped import nearest
from conformance.discovery.verdicts import refusal
from conformance.documents.pointer import edit
from conformance.formats import read_path
from conformance.observations.collected import ObservedClaim, values
from conformance.observations.comparing import Relation, relation
from conformance.observations.sights import digest
from conformance.results import Evidence
from conformance.simulator import simulated
from conformance.suite.play import play
from conformance.suite.rehearsal import failures
from conformance.suite.turns import Subject
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpReply
from conformance.transport.server import serving
from conformance.wire.exchange import Exchange
from conformance.wires import by_name, translate

LIMIT = 600

DIFFERENT: Mapping[str, Mapping[str, str]] = {
    "anthropic.messages": dict.fromkeys(
        ("results.unknown-id", "signature.altered"),
        "the simulator rejects it by the rule that the request breaks first",
    ),
    "deepseek.messages": {"thinking.on": "the model thinks without being asked to, so nothing needs to be sent"},
    "deepseek.responses": {},
    "openai.responses": {"thinking.switches": "a member that is sent beside the switch looks like a part of it"},
}
"""By profile, the claims that are discovered of its simulator and differ from it, with the reason."""

NOT_ASKED: Mapping[str, frozenset[str]] = {
    "anthropic.messages": frozenset(
        {
            "ids.input-pattern", "messages.budget-not-below-max-tokens", "messages.empty-content",
            "messages.server-block-without-tool", "messages.server-call-unanswered",
            "messages.server-result-orphaned",
            "messages.temperature-while-thinking", "messages.thinking-cached", "messages.thinking-not-first",
            "messages.trailing-whitespace", "reasoning.details.reordered", "reasoning.omitted-on-plain-turn",
            "reasoning.on-plain-turn", "signature.field", "signature.prefix-changed", "thinking.off",
            "error.in-200", "messages.error-result-parts", "messages.system-first", "messages.system-role",
            "request.conflicts", "request.retired-model", "request.tool-name-pattern", "request.too-long",
            "results.image-parts", "signature.foreign-host", "thinking.effort-unknown", "thinking.efforts",
            "messages.budget-under-1024", "messages.cache-marks-over-4", "request.unknown-message-field",
            "request.unknown-nested-field", "request.unknown-part-field", "request.unknown-part-type",
            "request.unknown-top-field", "tools.schema-keywords", "messages.blank-stop", "messages.first-assistant",
            "messages.image-media-type", "request.limits",
        }
    ),
    "deepseek.messages": frozenset({"messages.thinking-cached", "tools.unsupported-types"}),
    "deepseek.responses": frozenset(
        {
            "responses.phases", "responses.previous-response-id", "responses.reasoning-without-content",
            "responses.split-calls",
        }
    ),
    "openai.responses": frozenset(
        {
            "ids.input-max-length", "reasoning.details.summary-at", "request.format-schema", "request.missing-field",
            "request.unknown-role", "responses.call-without-output", "responses.duplicate-item",
            "responses.foreign-id", "responses.message-without-reasoning", "responses.output-without-call",
            "responses.phase-dropped", "request.json-word", "request.unknown-message-field",
            "request.unknown-part-field", "request.unknown-part-type", "request.unknown-top-field",
            "responses.previous-response-id", "responses.previous-response-not-stored",
            "responses.two-states", "responses.unfinished-blob", "thinking.off", "tools.schema-dialect",
            "error.in-200", "request.conflicts", "request.too-long", "responses.phases", "signature.foreign-host",
            "responses.compaction", "responses.open-responses", "stream.done", "thinking.fixed-parameters",
        }
    ),
}  # fmt: skip
"""By profile, the only claims that may be missing: no scenario asks, or the search for switches ends before.

No scenario compacts a history or compares a host with Open Responses, and no observation reads the end mark of a native
stream.
"""


def marked() -> Iterator[Any]:
    for name in DIFFERENT:
        yield pytest.param(name, marks=pytest.mark.slow if name == "anthropic.messages" else pytest.mark.exhaustive)


@pytest.fixture(scope="module", params=list(marked()))
def discovered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The name of a profile of another wire, the base URL of its simulator, and what the command wrote and returned."""
    name = request.param
    provider, wire = name.split(".")
    path = tmp_path_factory.mktemp("mine") / "mine.yaml"
    with simulated(load_profile(provider)) as url:
        model = load_profile(name).model
        words = (f"{url}/v1", "--protocol", wire, "--model", model, "--yes", "--out", str(path))
        yield name, f"{url}/v1", path, main(["provider", "discover", *words])


def test_what_is_found_on_another_wire_is_what_is_claimed_of_it(discovered: Any) -> None:
    name, _, path, code = discovered
    profile = load_profile(name)
    found = load_profile(path)
    claims = {claim: value for claim, value in found.on(profile.wire).at(profile.model).items() if value != "unknown"}
    claimed = profile.at(profile.model)
    relations = {claim: relation(claim, value, claimed.get(claim)) for claim, value in claims.items()}
    assert 0 == code
    assert set(DIFFERENT[name]) == {claim for claim, each in relations.items() if each is Relation.DIFFERENT}
    assert set(claimed) - set(found.on(profile.wire).at(profile.model)) <= NOT_ASKED[name]
    assert name == nearest(claims, profile.wire).provider
    assert ({}, [profile.wire]) == (found.claims, list(found.protocols))


@pytest.mark.exhaustive
def test_the_suites_are_green_with_the_profile_that_was_found(discovered: Any) -> None:
    name, url, path, _ = discovered
    wire = load_profile(name).wire
    profile = load_profile(path).on(wire)
    with Client(Endpoint(url, wire=wire)) as client:
        subject = Subject(profile, profile.model, client.send, Evidence.LIVE)
        cases = [play(scenario, variant, subject) for scenario, variant in all_cases()]
    assert [] == [line for case in cases if case.outcomes for line in failures(case)]
    assert any(case.outcomes for case in cases)


def test_each_claim_names_an_exchange_that_was_written_as_it_was_on_its_wire(discovered: Any) -> None:
    name, _, path, _ = discovered
    protocol = by_name(load_profile(name).wire)
    written = [each for part in read_path(path.with_suffix(".exchanges.jsonl")) for each in part.conversation]
    digests = {digest(each) for each in written}
    claims = load_profile(path).protocols[protocol.name].claims
    sources = {claim: history[0].source[0] for claim, history in claims.items()}
    assert {True} == {source.exchange in digests for source in sources.values() if source.exchange}
    assert {digest(each) for each in written} == {digest(each) for one in written for each in translate((one,))}


@pytest.mark.exhaustive
def test_an_endpoint_that_stays_as_it_was_shows_no_drift(discovered: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name, url, path, _ = discovered
    provider, wire = name.split(".")
    assert 0 == main(["provider", "watch", "--provider", str(path), "--base-url", url])
    assert 0 == main(["provider", "watch", "--provider", str(path), "--base-url", url, "--protocol", wire])
    seen = ("--seen", str(path.with_suffix(".exchanges.jsonl")))
    assert 2 == main(["provider", "watch", "--provider", provider, "--protocol", wire, *seen])
    assert "simulator" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_a_change_is_reported_with_both_exchanges_as_they_were_on_their_wire(discovered: Any, tmp_path: Path) -> None:
    name, _, path, _ = discovered
    provider, wire = name.split(".")
    profile = load_profile(provider)
    section = profile.protocols[wire].with_claims({"results.missing": "accepted"})
    with simulated(replace(profile, protocols={**profile.protocols, wire: section})) as url:
        words = ("--provider", str(path), "--base-url", f"{url}/v1", "--results", str(tmp_path))
        assert 1 == main(["provider", "watch", *words])
    (file,) = tmp_path.iterdir()
    changes = {each["claim"]: each for each in json.loads(file.read_text())["changes"]}
    drift = changes["results.missing"]
    assert "accepted" == drift["now"]
    assert by_name(wire).is_reply(drift["after"]["response"])
    assert "messages" not in drift["before"]["request"] or "tool_use" in json.dumps(drift["before"]["request"])


@pytest.mark.parametrize(
    ("wire", "message"), [("massages", "did you mean"), ("messages", "is not a reply of the wire messages")]
)
def test_a_wire_that_is_unknown_or_not_spoken_there_is_refused(
    wire: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(_: Any) -> HttpReply:
        return HttpReply(200, b'{"ok": true}', {"content-type": "application/json"})

    with serving(answer) as url:
        words = (f"{url}/v1", "--model", "m", "--yes", "--protocol", wire)
        assert 2 == main(["provider", "discover", *words])
    assert message in capsys.readouterr().err


def test_a_deviation_that_a_wire_has_no_counterpart_for_shows_nothing() -> None:
    def sent(body: dict[str, Any]) -> Exchange:
        native = by_name("messages").writing.request(body)
        (exchange,) = by_name("messages").translate([Exchange(native)])
        return exchange

    rule, again = "request/no-unknown-fields", {"role": "user", "content": "again"}
    plain: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    odd = edit(plain, {"/messages/0/no_such_field": 1})
    longer = {**odd, "messages": [*odd["messages"], again]}
    roles = {**plain, "messages": [*plain["messages"], again]}
    history = (sent(plain),)
    assert not wires.is_sent(rule, odd, history, sent(odd))
    assert not wires.is_sent(rule, longer, history, sent(longer))
    assert wires.is_sent("request/roles-alternate", roles, history, sent(roles))
    assert wires.is_sent(rule, odd, (Exchange(plain),), Exchange(odd))


def test_what_only_a_translation_has_is_no_claim_about_its_wire() -> None:
    found = {"stream.done": ObservedClaim(value=False, digest=""), "ids.format": ObservedClaim("x", "")}
    assert ["ids.format"] == list(shipped.shown(found, "messages"))
    assert found == shipped.shown(found, "chat")
    assert ("messages", 4096) == (Discovery("m", wire="messages").profile().wire, wires.max_tokens("messages"))


def test_requests_that_are_one_on_their_wire_are_sent_once() -> None:
    sent: list[Mapping[str, Any]] = []

    def ask(body: Mapping[str, Any]) -> Exchange:
        sent.append(body)
        return Exchange(dict(body), {"choices": []}, 200)

    session = Interview(ask, LIMIT, wire="messages")
    for extra in ({}, {"no_such_field": 1}, {"temperature": 1}):
        session.send({"model": "m", "messages": [], **extra})
    assert 2 == len(sent)


def test_a_refusal_that_names_an_item_has_a_hole_for_its_id() -> None:
    def refused(number: int) -> Exchange:
        item = {"type": "reasoning", "id": f"rs_{number}c3f", "summary": []}
        words = f"Item 'rs_{number}c3f' of type 'reasoning' was provided without its required following item."
        body = {"model": "m", "input": [item]}
        return by_name("responses").translate_one(Exchange(body, {"error": {"message": words}}, 400, url="/responses"))

    found = refusal([refused(111), refused(222)])["message"]
    assert "Item '{id}' of type 'reasoning' was provided without its required following item." == found


def test_a_switch_with_a_budget_claims_the_switch_alone() -> None:
    with simulated(load_profile("anthropic")) as url, Client(Endpoint(f"{url}/v1", wire="messages")) as client:
        session = Interview(client.send, LIMIT, wire="messages")
        found = further.thinking(session, "claude-sonnet-4-6", "max_tokens").claims
    assert [{"at": "/thinking/type", "equals": "enabled", "thinks": True}] == found["thinking.switches"].value
    assert values(found)["thinking.mode"] == "default-off"
