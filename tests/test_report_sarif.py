"""SARIF: valid by the official schema, with the locations, help and suppressions that code scanning uses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from conformance import rules
from conformance.adapters import loop
from conformance.documents.pointer import edit
from conformance.reporting.matrix.annotations import TITLES, Annotation, AnnotationKind, Location
from conformance.reporting.renderers.sarif import MAX_RESULTS, render
from conformance.results import Level
from tests.checking import BASES, FAULTY, GOOD, check, jsonl, write

SCHEMA = json.loads((Path(__file__).parent / "official" / "sarif-2.1.0-rtm.5.json").read_text())
ANSWERS = "transcript/result-answers-call"


def annotation(fact: str = ANSWERS, kind: AnnotationKind = AnnotationKind.FAILED, **about: Any) -> Annotation:
    return Annotation("deepseek/plain-answer.stream", fact, kind, **{"message": "expected a, got b", **about})


def log_of(text: str) -> Any:
    """Return the one run of a log that is valid by the official schema."""
    log = json.loads(text)
    assert [] == [f"{list(error.path)}: {error.message}" for error in Draft4Validator(SCHEMA).iter_errors(log)]
    (run,) = log["runs"]
    return run


def run_of(*annotations: Annotation) -> Any:
    return log_of("".join(render(annotations)))


def starts(run: Any) -> list[int | None]:
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    return [place.get("region", {}).get("startLine") for place in places]


def test_every_rule_has_its_help_in_a_valid_log() -> None:
    every: list[rules.Rule | loop.Fact] = [*rules.load(), *loop.load()]
    known = {each.id: each for each in every}
    run = run_of(*[annotation(name, level=each.level) for name, each in known.items()])
    described = {each["id"]: each for each in run["tool"]["driver"]["rules"]}
    assert sorted(known) == list(described)
    for name, each in known.items():
        assert each.title == described[name]["shortDescription"]["text"]
        assert each.source.link == described[name]["helpUri"]
        assert each.source.url in described[name]["help"]["markdown"]
    assert {"error", "warning", "note"} >= {each["defaultConfiguration"]["level"] for each in described.values()}


def test_checks_that_are_no_rules_have_a_description() -> None:
    run = run_of(*map(annotation, (*TITLES, "probes/ids-empty")))
    assert len(TITLES) + 1 == len(run["tool"]["driver"]["rules"])


def test_a_result_names_its_rule_by_index_and_id() -> None:
    run = run_of(annotation("stream/role-first"), annotation(ANSWERS), annotation("stream/role-first"))
    named = [run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] for each in run["results"]]
    assert [each["ruleId"] for each in run["results"]] == named


@pytest.mark.parametrize(("level", "shown"), [(Level.MUST, "error"), (Level.SHOULD, "warning"), (Level.MAY, "note")])
def test_a_level_has_its_name_in_code_scanning(level: Level, shown: str) -> None:
    assert shown == run_of(annotation(level=level))["results"][0]["level"]


def test_an_expected_failure_is_suppressed_with_its_reason() -> None:
    expected, failed = run_of(
        annotation(kind=AnnotationKind.EXPECTED, reason="It is known. https://e.org"), annotation()
    )["results"]
    suppression = {"kind": "external", "status": "accepted", "justification": "It is known. https://e.org"}
    assert [suppression] == expected["suppressions"]
    assert "suppressions" not in failed


def test_an_error_is_no_result_but_a_failed_execution() -> None:
    run = run_of(annotation(kind=AnnotationKind.ERRORED, message="KeyError"), annotation(kind=AnnotationKind.PASSED))
    (invocation,) = run["invocations"]
    assert ([], False) == (run["results"], invocation["executionSuccessful"])
    assert "KeyError" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run_of(annotation())["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("a/b.json", {"uri": "a/b.json", "uriBaseId": "%SRCROOT%"}),
        ("./a//b c%.json", {"uri": "a/b%20c%25.json", "uriBaseId": "%SRCROOT%"}),
        ("ä.json", {"uri": "%C3%A4.json", "uriBaseId": "%SRCROOT%"}),
        ("/tmp/a.json", {"uri": "file:///tmp/a.json"}),  # noqa: S108 — a name, nothing is written
    ],
)
def test_a_path_is_relative_to_the_root_or_a_full_uri(path: str, location: dict[str, str]) -> None:
    run = run_of(annotation(location=Location(path, 3)))
    physical = run["results"][0]["locations"][0]["physicalLocation"]
    assert {"artifactLocation": location, "region": {"startLine": 3}} == physical


def prints(*annotations: Annotation) -> list[str]:
    return [each["partialFingerprints"]["conformance/v1"] for each in run_of(*annotations)["results"]]


def test_a_fingerprint_is_unique_and_survives_moved_lines() -> None:
    here, moved = (
        Annotation(f"a.jsonl:{line}", ANSWERS, AnnotationKind.FAILED, location=Location("a.jsonl", line))
        for line in (3, 9)
    )
    assert prints(here) == prints(moved)
    others = [annotation(at="/0"), annotation(at="/1"), annotation("stream/role-first"), here, moved]
    assert len(others) == len(set(prints(*others)))


def test_results_are_limited_to_the_most_severe() -> None:
    few, many = [annotation(), annotation()], [annotation(level=Level.SHOULD)] * (MAX_RESULTS + 5)
    text = "".join(render([*many, *few]))
    run = json.loads(text)["runs"][0]
    assert (MAX_RESULTS, ["error", "error", "warning"]) == (
        len(run["results"]),
        [each["level"] for each in run["results"][:3]],
    )
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "7 more results of the same or lower severity are omitted" == note["message"]["text"]


PRETTY = json.dumps(FAULTY, indent=1)
SESSION = [GOOD, FAULTY]
LINE = next(number for number, line in enumerate(PRETTY.splitlines(), 1) if "call_9" in line)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("exchange.json", PRETTY, [LINE]),
        ("request.json", json.dumps(FAULTY["request"], indent=1), [LINE - 1]),
        ("session.json", json.dumps({"exchanges": SESSION}, indent=1), None),
        ("list.json", json.dumps(SESSION, indent=1), None),
        ("messages.json", json.dumps(FAULTY["request"]["messages"], indent=1), None),
        ("flat.json", json.dumps(FAULTY), [1]),
        ("lines.jsonl", jsonl(GOOD, FAULTY), [2]),
    ],
)
def test_a_finding_has_its_own_line(tmp_path: Path, name: str, text: str, lines: list[int] | None) -> None:
    if lines is None:
        lines = [number for number, line in enumerate(text.splitlines(), 1) if "call_9" in line]
    code, out, _ = check(write(tmp_path / name, text), "--format", "sarif", "--rule", ANSWERS)
    assert (1, lines) == (code, starts(log_of(out)))


def test_a_compressed_file_has_lines_and_a_stream_has_none(tmp_path: Path) -> None:
    _, out, _ = check(write(tmp_path / "a.json.gz", PRETTY), "--format", "sarif", "--rule", ANSWERS)
    assert [LINE] == starts(log_of(out))
    cut = re.sub(r"data: \[DONE\]\n\n", "", "".join(map(_event, BASES["stream-plain"][0]["response"])))
    _, out, _ = check(write(tmp_path / "a.sse", cut), "--format", "sarif", "--rule", "stream/ends-with-done")
    assert [None] == starts(log_of(out))


def _event(each: Any) -> str:
    return each if isinstance(each, str) else f"data: {json.dumps(each)}\n\n"


def test_a_finding_in_a_cassette_has_the_line_of_its_interaction(tmp_path: Path) -> None:
    body = json.dumps(FAULTY["request"])
    reply = json.dumps(edit(FAULTY["response"], {}))
    text = (
        "interactions:\n- request:\n    method: POST\n    uri: https://e.org/v1/chat/completions\n"
        f"    body: '{body}'\n  response:\n    status: {{code: 200}}\n    body:\n      string: '{reply}'\n"
    )
    _, out, _ = check(write(tmp_path / "a.yaml", text), "--format", "sarif", "--rule", ANSWERS)
    assert [2] == starts(log_of(out))


def test_an_unreadable_input_is_reported_with_its_line(tmp_path: Path) -> None:
    code, out, _ = check(write(tmp_path / "a.json", '{"messages": [\n}'), "--format", "sarif")
    (note,) = log_of(out)["invocations"][0]["toolExecutionNotifications"]
    assert (2, 2) == (code, note["locations"][0]["physicalLocation"]["region"]["startLine"])
