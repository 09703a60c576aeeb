"""What a run of the suites shows of the known faults of servers, with the script hidden from it.

`reports/faults.json` has the results of all; a sample is played again here, all of them in the nightly run.
"""

import orjson
import pytest

from conformance import faults
from conformance.results import Evidence
from conformance.suite.visible_faults import ABSENT, OWN
from tests.checking import ROOT
from tests.faults.playing import provider
from tests.faults.verdicts import GREEN, OTHER, WARNED, rows
from tests.loops import every

pytestmark = pytest.mark.slow

DATA = orjson.loads((ROOT / "reports" / "faults.json").read_bytes())
PROVIDERS = {wire: each["provider"] for wire, each in DATA.items()}
CASES = [(wire, name) for wire, each in DATA.items() for name in each["faults"]]
IN_CI = 12
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


def test_the_report_has_every_fault() -> None:
    wanted = {(wire, name) for name in faults.names() for wire in faults.load(name).wires}
    assert wanted == set(CASES)


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
