"""Results that are marked as failed, on Messages: sent, read back, and not shown to the model by some servers."""

from typing import Any

import pytest

from conformance import profiles, scenarios, wires
from conformance.profiles import Profile
from conformance.results import Evidence, Status
from conformance.results.runs import ProbeResult
from conformance.simulator import Simulator
from conformance.suite.options import on_wire
from conformance.suite.play import play
from conformance.suite.probes import ACCEPTED, UNSEEN
from conformance.suite.turns import Subject

CLAIM = "results.is-error"
FAILED = {"role": "tool", "tool_call_id": "call_1", "content": "no such city", "is_error": True}


def section(claim: Any, wire: str = "messages") -> Profile:
    """Return a profile of a wire that claims this about results that are marked as failed."""
    return on_wire(profiles.load_profile("llamacpp"), wire).with_claims({CLAIM: claim})


def probe(claimed: Profile, server: Profile) -> ProbeResult | None:
    """Return what the probe says of a server; None if it is not sent on that wire."""
    subject = Subject(claimed, claimed.model, Simulator(server).send, Evidence.LIVE)
    case = play(scenarios.load("one-tool-call"), "plain", subject)
    return next((each for each in case.probes if each.name == "results-failed"), None)


def test_a_failed_result_is_sent_as_one_and_read_back() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}, FAILED]}
    sent = wires.by_name("messages").writing.request(body)
    assert [True] == [block["is_error"] for block in sent["messages"][1]["content"] if block["type"] == "tool_result"]
    assert FAILED == wires.as_sent(body, "messages").request["messages"][1]


@pytest.mark.parametrize(
    ("claim", "does", "status"),
    [
        ("ignored", "ignored", Status.PASSED),
        ("ignored", "accepted", Status.FAILED),
        ("accepted", "accepted", Status.PASSED),
        ("accepted", "ignored", Status.FAILED),
        ("unknown", "ignored", Status.NOT_APPLICABLE),
    ],
)
def test_a_server_that_does_not_show_the_flag_is_found_by_the_tokens_of_the_prompt(
    claim: str, does: str, status: Status
) -> None:
    found = probe(section(claim), section(does))
    assert found is not None
    assert (status, f"{ACCEPTED}: {UNSEEN}" if does == "ignored" else ACCEPTED) == (found.status, found.observed)


@pytest.mark.parametrize("wire", ["", "responses"])
def test_a_wire_without_the_flag_is_not_asked(wire: str) -> None:
    assert probe(section("accepted", wire), section("accepted", wire)) is None
