"""What a fault costs a client is what it does otherwise than on healthy replies; the report is what the data give."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import broken_clients, faults, rules, scenarios
from conformance.adapters import definition
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Surroundings
from conformance.broken_clients import BrokenClients
from conformance.faults import PLAIN, Outgoing, ServerFault
from conformance.reporting.renderers import console
from conformance.results import Finding, Level, Outcome, Status
from conformance.suite.failures import report_on_rule
from conformance.wire.views import Side
from tests.harm import data, pages
from tests.harm.data import ABSENT, Measured, Pair
from tests.harm.playing import SCENARIOS, Client, FaultySessions, Unmeasurable, surroundings
from tests.harm.workers import Worker, command_for

DRIVER = """
import json, time, urllib.request
from types import SimpleNamespace as Object
from driving import drive, loop

def odd(kind, message, body):
    BEHAVIOUR

def talk(job):
    def ask(history):
        body = json.dumps({"model": job.model, "messages": history, "tools": [each.as_openai() for each in job.tools]})
        headers = {"content-type": "application/json"}
        sent = urllib.request.Request(job.base_url + "/chat/completions", body.encode(), headers)
        with urllib.request.urlopen(sent) as reply:
            value = json.load(reply)
        message = value["choices"][0]["message"]
        if value.pop("oddity", None):
            odd(None, message, value)
        last.append(message)
        calls = [Object(id=each["id"], function=Object(**each["function"])) for each in message.get("tool_calls") or ()]
        return Object(tool_calls=calls, content=message["content"])
    last = []
    return loop(job, ask, lambda _: last[-1])

drive(talk)
"""
BEHAVIOURS = (
    ("pass", "nothing", ""),
    ("import os; os.write(1, b'noise' + bytes([10]))", "nothing", ""),
    ("del message.get('tool_calls', [])[1:]", "call", 'without get_weather {"city":"Rome"}'),
    ("time.sleep(60)", "hang", ""),
    ("raise ValueError('odd')", "error", "ValueError: odd"),
    ("import os; os._exit(3)", "error", "the driver printed no answer"),
    ("message.pop('reasoning_content', None)", "request", "without assistant "),
    ("message['content'] = f'{message[\"content\"]}?'", "answer", "with Madrid has 28.4 degrees and Rome has 13.7.?"),
)


def odd(sent: Outgoing) -> Outgoing:
    return sent._replace(body={**sent.body, "oddity": True})


ODD = ServerFault("odd", "A reply is odd.", "https://example.com", ("chat",), (PLAIN,), {"chat": ()}, (), odd)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[FaultySessions, Surroundings]]:
    with surroundings() as both:
        yield both


def scripted(folder: Path, behaviour: str) -> AdapterDefinition:
    own = folder / "scripted"
    own.mkdir()
    (folder / "_python").symlink_to(definition.FOLDER / "_python")
    (own / "driver.py").write_text(DRIVER.replace("BEHAVIOUR", behaviour), "utf-8")
    return AdapterDefinition("scripted", own, "", "python", "", (), {"deepseek": ""}, "driver.py")


@pytest.mark.parametrize(("behaviour", "expected", "detail"), BEHAVIOURS)
def test_a_client_breaks_as_it_does(
    behaviour: str, expected: str, detail: str, tmp_path: Path, served: tuple[FaultySessions, Surroundings]
) -> None:
    server, around = served
    one = scripted(tmp_path, behaviour)
    with Worker(command_for(one), {}, around) as worker:
        client = Client(one, worker, server)
        client.on_healthy(scenarios.load(SCENARIOS[0]), PLAIN, ODD)
        client.seconds = 3.0 if expected == "hang" else 30.0
        played = client.play(ODD, PLAIN)
    assert played is not None
    scenario, found = played
    assert ("parallel-tool-calls", expected) == (scenario, found.outcome)
    assert detail in found.detail


def test_a_client_that_fails_on_healthy_replies_is_not_measured(
    tmp_path: Path, served: tuple[FaultySessions, Surroundings]
) -> None:
    one = scripted(tmp_path, "pass")
    driver = one.folder / one.driver
    driver.write_text(driver.read_text("utf-8").replace("last.append(message)", "raise KeyError('none')"), "utf-8")
    with Worker(command_for(one), {}, served[1]) as worker, pytest.raises(Unmeasurable, match=r"healthy.*KeyError"):
        Client(one, worker, served[0]).play(ODD, PLAIN)


def test_a_fault_that_no_reply_can_have_is_absent(tmp_path: Path, served: tuple[FaultySessions, Surroundings]) -> None:
    one = scripted(tmp_path, "pass")
    never = ServerFault("never", "", "", ("chat",), (PLAIN,), {"chat": ()}, (), lambda sent: sent)
    with Worker(command_for(one), {}, served[1]) as worker:
        assert Client(one, worker, served[0]).play(never, PLAIN) is None


TODAY = {"date": "2026-11-28"}
MEASURED = Measured(
    {
        Pair("index-missing", "chat", "stream", "a@1.2.3"): {"outcome": "call", "detail": "without f {}", **TODAY},
        Pair("index-missing", "chat", "stream", "b@0.4.0"): {"outcome": "nothing", **TODAY},
        Pair("index-missing", "chat", "stream", "c@2.0"): {"outcome": "error", **TODAY},
        Pair("object-foreign", "chat", "stream", "a@1.2.3"): {"outcome": "nothing", **TODAY},
        Pair("object-foreign", "chat", "stream", "b@0.4.0"): {"outcome": "nothing", **TODAY},
        Pair("choice-ignored", "chat", "stream", "a@1.2.3"): {"outcome": ABSENT, **TODAY},
    },
    {"d@1 plain": "on healthy replies: KeyError"},
)


def test_the_report_is_what_the_data_give(tmp_path: Path) -> None:
    pages.write_all(tmp_path, MEASURED, tmp_path / "rules.json")
    assert data.read(tmp_path) == MEASURED
    found = data.by_rule(data.value(MEASURED))
    rule = found["stream/index-present"]
    assert ({"a@1.2.3": "call", "c@2.0": "error"}, 3, ("index-missing",)) == tuple(rule)
    assert rule.text == "a 1.2, c 2.0 (2 of 3 clients)"
    page = (tmp_path / "harm.md").read_text("utf-8").splitlines()
    row = next(line for line in page if line.startswith("| `index-missing`"))
    assert row.endswith("| stream | 2 of 3 | raises an exception: c 2.0; loses a call or runs a wrong one: a 1.2 |")
    row = next(line for line in page if line.startswith("| `object-foreign`"))
    assert row.endswith("| stream | 0 of 2 |  |")
    assert "`d@1 plain` cannot be measured on healthy replies: KeyError." in page
    assert not any("`choice-ignored`" in line for line in page)
    assert pages.counted(MEASURED).startswith("6 of ")


def test_findings_about_a_provider_name_the_clients_that_break(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = BrokenClients({"a@1.2.3": "call", "b@2": "hang"}, 31, ("index-missing",))
    monkeypatch.setattr(broken_clients, "of_rule", {"stream/index-present": broken}.get)
    found: dict[str, Any] = {"level": "MUST", "side": "provider", "at": "/0", "message": "no index", "rank": 1}
    outcomes = [{"rule": "stream/index-present", "status": "failed", "findings": [found, {**found, "side": "client"}]}]
    shown = console.part(
        {"path": "f", "line": 1, "kind": "exchange", "provider": "", "outcomes": outcomes}, lambda _, text: text
    )
    assert ["    breaks: a 1.2, b 2 (2 of 31 clients)\n", ""] == [line.below for line in shown.lines]
    failed = Outcome("stream/index-present", Status.FAILED, Level.MUST, 1, (Finding("/0", "no index", Level.MUST),))
    assert "  breaks: a 1.2, b 2 (2 of 31 clients)" in report_on_rule(failed).splitlines()


def test_the_published_report_and_what_findings_quote_are_what_the_data_give() -> None:
    document = data.value(data.read(Path("reports")))
    assert "\n".join(pages.page(document)) + "\n" == Path("reports/harm.md").read_text("utf-8")
    for rule, found in data.by_rule(document).items():
        assert found == broken_clients.of_rule(rule)


def test_a_must_about_replies_names_a_client_that_it_breaks_or_a_specifications_word() -> None:
    replies = [rule for rule in rules.load() if rule.on.side is Side.PROVIDER and rule.level is Level.MUST]
    assert [] == [rule.id for rule in replies if not pages.is_justified(rule, broken_clients.of_rule(rule.id))]
    assert {name: now for name, (_, now) in pages.CHANGED.items()} == {
        name: rules.by_id()[name].level.value for name in pages.CHANGED
    }


def test_what_rules_lack_is_measured_first() -> None:
    fault, pair = "index-missing", Pair("index-missing", "chat", "stream", "new@1")
    measured = {Pair(fault, "chat", "stream", f"c{number}@1"): {"outcome": "nothing"} for number in range(25)}
    assert not data.lacks(Measured(measured, {}), pair)
    measured[Pair(fault, "chat", "stream", "c0@1")] = {"outcome": ABSENT}
    assert data.lacks(Measured(measured, {}), pair)
    assert not data.lacks(Measured(measured, {}), pair._replace(client="c1@1"))
    assert not data.lacks(Measured({}, {}), pair._replace(fault="headers-added"))


def test_a_fault_of_refusals_is_served_with_requests_that_are_refused_once(
    tmp_path: Path, served: tuple[FaultySessions, Surroundings]
) -> None:
    one = scripted(tmp_path, "pass")
    with Worker(command_for(one), {}, served[1]) as worker:
        client = Client(one, worker, served[0])
        played = client.play(faults.load("refusal-message-empty"), PLAIN)
        assert client.healthy["parallel-tool-calls", PLAIN, "deepseek", "refused"].error.startswith("HTTPError")
    assert played is not None
    assert "nothing" == played[1].outcome
