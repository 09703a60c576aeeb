"""Every published number, on small sets of results in which no two numbers are alike, so that a mix-up shows."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from conformance import profiles
from conformance.evidence import index
from conformance.profiles import UPSTREAM, Claim, Source, of, vocabulary
from conformance.reporting.matrix import counts_in_words
from conformance.reporting.matrix.counts import CheckCounts, count
from conformance.reporting.matrix.headline import Headline, headline
from conformance.reporting.matrix.table import ADAPTER, Inputs, Table, TableCell, TableSubject, claim_evidence, table
from conformance.reporting.page import facts
from conformance.reporting.renderers import badge, calibration, markdown, providers, recordings
from conformance.reporting.renderers import rules as rules_page
from conformance.results import Evidence, Finding, Level, Outcome, Status, Verdict
from conformance.results.calibration import RecordingCounts as Shown
from conformance.results.runs import Case, Results

RULE = "stream/ends-with-done"
ENGINES = ("e-1", "e-2", "e-3")
HOSTS = ("h-1", "h-2", "h-3", "h-4")
PAIRINGS = [f"sdk-{number}@1/h-1" for number in range(9)] + [f"sdk-{number}@1/h-2" for number in range(3)]

EXPECTED = Headline(
    providers=7,
    claims=80,
    confirmed=11,
    contradicted=13,
    measured=17,
    open=59,
    measured_only=4,
    recorded_only=1,
    inferred=16,
    upstream=15,
    unknown=23,
    recordings=137,
    recorded=2,
    engines=("E-1", "E-2", "E-3"),
    engine_facts=25,
    engine_departs=5,
    engine_breaks=6,
    engine_untested=19,
    declared=29,
    adapters=9,
    pairings=12,
    clean_pairings=10,
    played=26,
    clean=22,
    expected=8,
)


def subject(name: str, kind: str, service: str = "", *, mine: bool = False) -> TableSubject:
    return TableSubject(name, (service or name).title(), kind, service or name, "m", mine=mine, service=service or name)


def cells(
    name: str, counted: dict[tuple[Verdict, str], int], family: str = "claims", **more: Any
) -> Iterator[TableCell]:
    """Yield so many cells of each verdict and evidence, each in a row of its own."""
    for (verdict, evidence), number in counted.items():
        for at in range(number):
            yield TableCell(name, f"{family}/{verdict.value}-{evidence}-{at}", "plain", verdict, evidence, **more)


def outcomes(status: Status) -> tuple[Outcome, ...]:
    found = (Finding("/0/response", "expected a, got b", Level.MUST),) if status is Status.FAILED else ()
    return (Outcome(RULE, status, Level.MUST, 1, found),)


def driven() -> list[Results]:
    """Return 12 pairings of 9 SDKs with 26 cases, of which 4 in 2 pairings break a MUST, and a case without checks."""
    made = []
    for number, name in enumerate(PAIRINGS):
        sdk, _, provider = name.partition("/")
        statuses = [Status.FAILED if number < 2 else Status.PASSED] * 2 + [Status.PASSED] * (number < 2)
        cases = [Case(f"s-{at}", "plain", Evidence.SIMULATED, outcomes(each)) for at, each in enumerate(statuses)]
        made.append(Results(sdk, "m", (*cases, Case("idle", "plain", Evidence.SIMULATED)), provider))
    return [*made, replace(made[0], mine=True)]


def known() -> Table:
    """Return a table with the numbers of EXPECTED, and with what they must leave out."""
    claims = cells(
        "h-1",
        {
            (Verdict.CONFORMS, Evidence.RECORDED): 11,
            (Verdict.DEPARTS, Evidence.RECORDED): 13,
            (Verdict.CONFORMS, Evidence.ENGINE): 17,
            (Verdict.UNKNOWN, "sources"): 23,
        },
    )
    rest = (
        (18, "v", Source(url="https://a.example/", read="2026-01")),
        (4, "v", Source(engine="E 1.0", read="2026-01")),
        (1, "v", Source(recorded="often")),
        (1, "v", Source(inferred="so")),
        (15, UPSTREAM, Source(inferred="so")),
    )
    resting = [
        TableCell(
            "h-1", f"claims/{at}-{number}", "", Verdict.DECLARED, "sources", claim=Claim("c", value, source=(source,))
        )
        for at, (count, value, source) in enumerate(rest)
        for number in range(count)
    ]
    shown: list[dict[tuple[Verdict, str], int]] = [
        {(Verdict.CONFORMS, Evidence.ENGINE): 14, (Verdict.UNKNOWN, Evidence.ENGINE): 8},
        {(Verdict.DEPARTS, Evidence.ENGINE): 5},
        {(Verdict.BREAKS, Evidence.ENGINE): 6, (Verdict.UNTESTED, Evidence.ENGINE): 19},
    ]
    tested = [cell for name, counted in zip(ENGINES, shown, strict=True) for cell in cells(name, counted, "stream")]
    declared = cells(
        "h-2", {(Verdict.DECLARED, Evidence.SIMULATED): 29, (Verdict.BREAKS, Evidence.SIMULATED): 1}, "usage"
    )
    adapters = cells(PAIRINGS[0], {(Verdict.CONFORMS, Evidence.SIMULATED): 33}, "loop")
    excused = cells("h-3", {(Verdict.BREAKS, Evidence.LIVE): 8}, "error", expected="since May")
    mine = cells("own", {(Verdict.CONFORMS, Evidence.RECORDED): 40})
    every = (*claims, *resting, *tested, *declared, *adapters, *excused, *mine)
    # The same row in another variant is the same check, and the worst verdict counts.
    again = replace(
        next(cell for cell in tested if cell.verdict is Verdict.BREAKS), variant="stream", verdict=Verdict.DEPARTS
    )
    subjects = (
        *[subject(name, "engine") for name in ENGINES],
        *[subject(name, "host") for name in HOSTS],
        subject("h-1.messages", "host", "h-1"),
        *[subject(name, ADAPTER, "h-1") for name in PAIRINGS],
        subject("own", "host", mine=True),
    )
    calibrated = {"h-1": 100, "h-1.messages": 6, "h-2": 31, "h-3": 0}
    inputs = Inputs(driven(), {}, {name: {"recordings": number} for name, number in calibrated.items()})
    return Table(subjects, (), (*every, again), inputs)


def test_the_headline_counts_each_thing_once() -> None:
    assert EXPECTED == headline(known())
    numbers = [len(value) if isinstance(value, tuple) else value for value in asdict(EXPECTED).values()]
    assert len(numbers) == len(set(numbers))


def test_the_headline_says_each_number_where_it_belongs() -> None:
    claims, engines, declared, adapters, expected = EXPECTED.lines()
    assert claims == (
        "**80 claims about 7 providers; 59 have a source that you can open.** Of the others, 4 were measured on an "
        "engine, and the exchange is not stored; 16 follow from something else; 1 rest on recordings that are named "
        "only in words. 137 recordings of real traffic from 2 providers confirm 11 of them and contradict 13 in part; "
        "stored exchanges with engines show 17 more; the other 39 rest on their sources alone (15 of these say that it "
        "depends on who replies). 23 more are unknown: no source was found."
    )
    assert engines == (
        "**3 open-source engines tested** with a small scripted model (E-1, E-2, E-3): 25 checks, of which 6 failed a "
        "MUST and 5 a SHOULD or MAY; 19 more had nothing to check."
    )
    assert declared == (
        "**29 checks of the other providers declared, not observed**: the simulator plays what their profiles claim, "
        "which tests the suite and not the provider."
    )
    assert adapters == (
        "**9 adapters tested** against the simulator, in 12 pairings with a provider. 22 of 26 cases and 10 of the "
        "pairings break no MUST."
    )
    assert "Expected failures: 8." == expected
    assert 3 == len(replace(EXPECTED, engines=(), expected=0).lines())
    assert "1,234 claims" in replace(EXPECTED, claims=1234).lines()[0]


def test_the_matrix_counts_cells_by_what_they_are_about_and_by_evidence() -> None:
    # In the order conforms, declared, departs, breaks, untested, errored, unknown.
    assert [
        "adapters simulated 33 33 - - - - - -",
        "claims engine 17 17 - - - - - -",
        "claims recorded 64 51 - 13 - - - -",
        "claims sources 62 - 39 - - - - 23",
        "providers engine 53 14 - 6 6 19 - 8",
        "providers live 8 - - - 8 - - -",
        "providers simulated 30 - 29 - 1 - - -",
    ] == [" ".join([str(each) or "-" for each in row]) for row in markdown._counts(known())]


def test_verdicts_in_words_have_their_own_numbers() -> None:
    verdicts = [Verdict.CONFORMS] * 2 + [Verdict.DECLARED] * 3 + [Verdict.DEPARTS] * 4 + [Verdict.BREAKS] * 5
    verdicts += [Verdict.UNTESTED] * 6 + [Verdict.ERRORED] * 7 + [Verdict.UNKNOWN] * 8
    shown = "2 conforms, 3 declared, 4 departs, 5 breaks, 6 untested, 7 errored, 8 unknown"
    assert shown == counts_in_words(verdicts)
    assert "nothing was checked" == counts_in_words([])


def test_a_badge_counts_observed_and_declared_checks_apart() -> None:
    def played(evidence: Evidence, *statuses: Status) -> Case:
        found = (Finding("/0", "expected a, got b", Level.MUST),)
        every = [
            Outcome(f"stream/fact-{evidence}-{at}", each, Level.MUST, 1, found if each is Status.FAILED else ())
            for at, each in enumerate(statuses)
        ]
        return Case("s", evidence, evidence, tuple(every))

    live = played(Evidence.LIVE, *[Status.PASSED] * 7, *[Status.FAILED] * 2, Status.ERRORED)
    again = replace(live, variant="again")
    simulated = played(Evidence.SIMULATED, *[Status.PASSED] * 5)
    counted = count([Results("h-1", "m", (live, again, simulated))])
    assert CheckCounts(7, 3, 5) == counted
    assert "7 of 10 conform, 5 declared" == badge.message(counted)
    both = replace(simulated, outcomes=(*simulated.outcomes, live.outcomes[0]))
    assert CheckCounts(7, 3, 5) == count([Results("h-1", "m", (live, both))])


CLAIMED = [name for name in vocabulary() if name.startswith(("content.", "results.")) and "in-tool" not in name][:20]


def calibrated() -> dict[str, Any]:
    """Return a calibration that confirms 4 claims, contradicts 2, and has 3 that an engine shows."""
    shows: list[dict[str, Any]] = [
        *[{"confirmed": [*range(3 + at)]} for at in range(4)],
        *[{"confirmed": [0], "contradicted": [1, 2]} for _ in range(2)],
        *[{"engine": 9} for _ in range(3)],
    ]
    entries = [
        {"claim": name, "model": "", "value": "accepted", **shown} for name, shown in zip(CLAIMED, shows, strict=False)
    ]
    return {"recordings": 31, "exchanges": [*map(str, range(12))], "claims": entries}


def test_the_page_of_a_provider_counts_its_claims(tmp_path: Path) -> None:
    source = "source: {url: https://example.com/docs, read: 2026-11-02}, confidence: high"
    searched = "source: {searched: 2026-11-02}, confidence: low"
    claims = [
        f"  {name}: {{value: accepted, {source}}}" if at < 14 else f"  {name}: {{value: unknown, {searched}}}"
        for at, name in enumerate(CLAIMED)
    ]
    head = ["title: H 1", "kind: vendor", "base_url: https://api.example.com", "model: m", "claims:"]
    path = tmp_path / "h-1.yaml"
    path.write_text("\n".join([*head, *claims]) + "\n")
    profile = profiles.read(path)
    results = Results("h-1", profile.model, (Case("one-tool-call", "plain", Evidence.LIVE, outcomes(Status.PASSED)),))
    made = table(Inputs([results], {"h-1": profile}, {"h-1": calibrated()}))
    page = providers.publish(made)["providers/h-1.md"]
    (line,) = [each for each in page.splitlines() if "source that you can open" in each]
    assert (
        "- 14 claims, each with a source that you can open. [31 recordings](../evidence/h-1.md) of real traffic "
        "confirm 4 of them and contradict 2 in part. The engine itself shows 3."
    ) == line
    numbers = headline(made)
    assert (14, 4, 2, 3, 6, 31) == (
        numbers.claims,
        numbers.confirmed,
        numbers.contradicted,
        numbers.measured,
        numbers.unknown,
        numbers.recordings,
    )


def test_what_recordings_show_of_a_claim_has_its_own_numbers() -> None:
    counted = Shown(2, 3, 4, ("cut", "edited"), 5, 6, 7)
    profile = of({}, "h-1")
    rest = "another value in 5 recordings; answered in 6 recordings; not counted: 4, cut; edited"
    words = f"contradicted by 3 recordings; confirmed by 2 recordings; {rest}"
    assert (Verdict.DEPARTS, Evidence.RECORDED, words) == claim_evidence(profile, None, counted, "accepted")
    engine = counted._replace(confirmed=0, contradicted=0)
    words = f"confirmed by 7 exchanges with the engine; {rest}"
    assert (Verdict.CONFORMS, Evidence.ENGINE, words) == claim_evidence(profile, None, engine, "accepted")
    assert Verdict.CONFORMS is claim_evidence(profile, None, counted._replace(contradicted=0), "accepted")[0]
    assert Verdict.UNKNOWN is claim_evidence(profile, None, counted, "unknown")[0]


def test_the_page_of_recordings_counts_those_it_does_not_link() -> None:
    digests = list(index.by_digest())[:40]
    shown = {"confirmed": [*range(13)], "contradicted": [20, 21], "artefacts": [[30, "cut"], [31, "cut"], [32, "cut"]]}
    entry = {"claim": "ids.format", "model": "", "value": "a", **shown}
    evidence = {"recordings": 37, "exchanges": digests, "claims": [entry]}
    lines = recordings.render(subject("h-1", "host"), evidence).splitlines()
    assert any(line.startswith("37 recordings of real traffic in public repositories") for line in lines)
    confirmed, contradicted, left_out = [line for line in lines if line.startswith("  - ")]
    assert confirmed.startswith("  - confirmed by 13 recordings: ")
    assert confirmed.endswith(" and 1 more")
    assert contradicted.startswith("  - contradicted by 2 recordings: ")
    assert left_out.startswith("  - not counted, cut: 3 recordings: ")
    assert 12 == confirmed.count("][")


def test_the_table_of_a_calibration_has_each_number_in_its_column() -> None:
    requests = {
        "accepted": 2,
        "refused": 3,
        "falsely refused": 4,
        "refusal missed": 5,
        "refused in other words": 6,
        "out of scope": 7,
        "incomplete": 8,
    }
    shows: list[dict[str, Any]] = [*[{"confirmed": [0]}] * 12, *[{"contradicted": [0]}] * 13, *[{"engine": 1}] * 14]
    claims = [{"claim": "ids.format", "model": "", "value": "a", **each} for each in shows]
    row = {
        "provider": "h-1",
        "recordings": 90,
        "requests": requests,
        "claims": claims,
        "unseen": [""] * 15,
        "unread": [""] * 16,
    }
    shown = calibration._table([row, {**row, "provider": "h-2"}], lambda _, text: text)
    _, heads, *lines = [" ".join(line.split()) for line in shown]
    columns = (
        "exchanges accepted refused positives negatives scope incomplete confirmed contradicted engine observed read"
    )
    assert f"provider {columns}" == heads
    assert [
        "h-1 90 2 3 4 11 7 8 12 13 14 15 16",
        "h-2 90 2 3 4 11 7 8 12 13 14 15 16",
        "all 180 4 6 8 22 14 16 24 26 28 30 32",
    ] == lines


def test_the_page_of_rules_names_the_subjects_of_each_verdict_apart() -> None:
    every = [
        TableCell(name, RULE, variant, verdict, Evidence.LIVE)
        for name, variant, verdict in [
            ("h-1", "plain", Verdict.BREAKS),
            ("h-1", "stream", Verdict.BREAKS),
            ("h-2", "plain", Verdict.BREAKS),
            ("h-3", "plain", Verdict.DEPARTS),
            ("h-4", "plain", Verdict.UNTESTED),
            ("e-1", "plain", Verdict.CONFORMS),
        ]
    ]
    made = Table(tuple([subject(name, "host") for name in HOSTS]), (), tuple(every), Inputs([], {}))
    found = rules_page._failing(made)
    assert [
        ("Broken by", ["h-1", "h-2"]),
        ("Not followed by", ["h-3"]),
        ("Not tested for", ["h-4"]),
    ] == list(found[RULE])


def test_the_page_of_the_matrix_counts_providers_sdks_and_pairings() -> None:
    assert "8 providers, 9 SDKs in 12 pairings" == facts.summary(known())
