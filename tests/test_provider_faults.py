"""What a run of the suites shows of the known faults of servers, with the script hidden from it.

`reports/faults.json` has the results of all; a sample is played again here, all of them in the nightly run.
"""

import orjson
import pytest

from conformance import scenarios
from conformance.profiles import Profile
from conformance.results import Evidence
from conformance.simulator import Simulator, members
from conformance.suite.options import on_wire
from conformance.suite.turns import Subject, converse
from conformance.suite.visible_faults import ABSENT, OWN
from conformance.transport.http import HttpReply, HttpRequest
from tests.checking import ROOT
from tests.faults.hidden import Hidden
from tests.faults.playing import provider
from tests.faults.verdicts import GREEN, OTHER, WARNED, rows
from tests.in_process import InProcess
from tests.loops import every

pytestmark = pytest.mark.slow

DATA = orjson.loads((ROOT / "reports" / "faults.json").read_bytes())
PROVIDERS = {wire: each["provider"] for wire, each in DATA.items()}
CASES = [(wire, name) for wire, each in DATA.items() for name in each["faults"]]
IN_CI = 24
"""Of so many faults on a wire, CI plays one."""

PLAYED = [
    pytest.param(*case, id="-".join(case), marks=[] if number % IN_CI == 0 else [pytest.mark.exhaustive])
    for number, case in enumerate(CASES)
]


@every(("wire", "name"), PLAYED)
def test_a_fault_shows_as_the_report_says(wire: str, name: str) -> None:
    known = DATA[wire]["faults"][name]
    (row,) = rows(PROVIDERS[wire], [name], whole=known["verdict"] != OWN)
    assert known["verdict"] == row.verdict


@every("wire", PROVIDERS)
def test_a_run_without_faults_is_green_and_live(wire: str) -> None:
    subject = provider(PROVIDERS[wire])
    cases = subject.clean_cases.values()
    assert [] == [cause for case in cases for cause in subject.report(case).failed]
    assert [] == list(subject.core(cases, is_red=False))
    assert {Evidence.LIVE} == {case.evidence for case in cases}


def simulator_answer(profile: Profile, request: HttpRequest) -> HttpReply:
    return Simulator(profile).answer(request)


@every("wire", PROVIDERS)
def test_nothing_gives_the_simulator_away(wire: str) -> None:
    served = provider(PROVIDERS[wire]).served
    asked: list[HttpRequest] = []
    hidden = Hidden(served, {})

    def answer(request: HttpRequest) -> HttpReply:
        asked.append(request)
        return hidden.answer(request)

    with InProcess(answer, wire) as client:
        subject = Subject(on_wire(served, wire), served.model, client.send, Evidence.LIVE)
        converse(scenarios.load("one-tool-call"), "plain", subject)
    first, again = (hidden.answer(asked[0]) for _ in range(2))
    scripted = simulator_answer(served, asked[0])
    assert {"content-type"} == {name.lower() for name in first.headers}
    assert 3 == len({bytes(each.body) for each in (first, again, scripted) if isinstance(each.body, bytes)})
    said = hidden.answer(asked[-1]).body
    assert isinstance(said, bytes)
    assert b"I had a look at it." in said
    assert str(members.CREATED).encode() not in said


def test_no_harmless_change_is_red() -> None:
    changes = [
        (name, each["verdict"]) for wire in DATA.values() for name, each in wire["faults"].items() if each["harmless"]
    ]
    assert changes
    assert [] == [each for each in changes if each[1] not in (GREEN, WARNED, ABSENT)]


@every(("wire", "least"), [("chat", 90), ("messages", 85), ("responses", 85), ("gemini", 85)])
def test_most_faults_are_red_for_their_own_rule(wire: str, least: int) -> None:
    verdicts = [each["verdict"] for each in DATA[wire]["faults"].values() if not each["harmless"]]
    shown = [each for each in verdicts if each != ABSENT]
    assert {OWN, OTHER, WARNED, GREEN} >= {*shown}
    assert least * len(shown) <= 100 * shown.count(OWN)
