"""Reports of a user's own results: beside those of the project, whose facts and counts they never replace."""

import json
import re
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from conformance import profiles
from conformance.cli import main
from conformance.cli.results.report import _alone
from conformance.documents import read_json
from conformance.errors import Unusable
from conformance.gate import check_results
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.own import only_own, read_own, with_own
from conformance.reporting.matrix.table import Inputs, Table, table
from conformance.reporting.renderers import matrix_json, own
from conformance.resources import folder
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.files import read, read_shipped, write
from conformance.results.record import sealed
from conformance.results.runs import Case, Results
from conformance.schemas import validator
from tests.xml_text import parse_xml

ADAPTERS = folder("reports") / "results" / "adapters"
ADAPTER, OTHER = [
    next(ADAPTERS.glob(f"{name}@*.deepseek.json")).name.removesuffix(".deepseek.json") for name in ("litellm", "agno")
]
HOSTILE = "<img src=x onerror=alert(1)> | [a](javascript:b) `c`\n# d \x1b[2J $(touch e)"


@pytest.fixture(scope="module")
def shipped() -> Inputs:
    """Return some of the inputs of the committed reports: two providers, and the adapters of one of them."""
    root = folder("reports") / "results"
    names = ("deepseek", "vllm")
    files = [*(f"{name}.json" for name in names), *(f"adapters/{name}.deepseek.json" for name in (ADAPTER, OTHER))]
    calibration: dict[str, Any] = {name: read_json(root / "calibration" / f"{name}.json") for name in names}
    return Inputs([read(root / each) for each in files], {name: profiles.load(name) for name in names}, calibration)


@pytest.fixture(scope="module")
def before(shipped: Inputs) -> Table:
    """Return the table without results of a user's own."""
    return table(shipped)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with results of an endpoint, as a live run with a base URL writes them."""
    found = read(folder("reports") / "results" / "vllm.json")
    cases = [replace(case, evidence=Evidence.LIVE) for case in found.cases]
    write(tmp_path / "results", replace(found, model="my-model", cases=tuple(cases), versions={}))
    return tmp_path / "results"


def made(shipped: Inputs, results: Path, **more: bool) -> Table:
    inputs = with_own(shipped, read_own(results))
    return table(only_own(inputs) if more.get("only") else inputs)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_facts_and_counts_of_the_project_stay_beside_those_of_the_user(
    shipped: Inputs, before: Table, results: Path
) -> None:
    after = made(shipped, results)
    assert headline(before) == headline(after)
    assert [*before.cells] == [cell for cell in after.cells if cell.subject != "vllm (mine)"]
    (mine,) = [subject for subject in after.subjects if subject.mine]
    assert ("vllm (mine)", "vLLM (mine)", "my-model") == (mine.name, mine.title, mine.model)
    assert {"live"} == {cell.evidence for cell in after.of(mine.name)}


def test_the_page_has_the_users_facts_beside_each_provider(shipped: Inputs, results: Path) -> None:
    page = own.render(made(shipped, results))
    assert "| Field that carries reasoning | conforms | `reasoning; on every tool turn` |" in page
    assert "| **vLLM (mine)** | conforms: `reasoning; on every tool turn` |" in page
    assert "| [DeepSeek](providers/deepseek.md) | `reasoning.response-field`: `reasoning_content`" in page


def test_only_mine_leaves_the_provider_that_was_checked(shipped: Inputs, results: Path) -> None:
    found = made(shipped, results, only=True)
    assert {"vllm", "vllm (mine)"} <= {subject.name for subject in found.subjects}
    assert {"vllm"} == {subject.provider for subject in found.subjects}
    assert 1 == headline(found).providers
    assert headline(found).claims > 0


def test_an_adapter_alone_stands_beside_the_adapters_of_the_project(
    shipped: Inputs, before: Table, tmp_path: Path
) -> None:
    theirs = read(folder("reports") / "results" / "adapters" / f"{ADAPTER}.deepseek.json")
    write(tmp_path / "results", replace(theirs, subject="driver"))
    found = made(shipped, tmp_path / "results")
    page = own.render(found)
    clean = {case.name for case in theirs.cases if case.outcomes} - {
        each.case for each in check_results(theirs) if each.is_bad
    }
    shown = re.findall(r"\| \*\*driver \(mine\) on deepseek\*\* \| (\d+) of \d+ \|", page)
    assert [str(len(clean))] == shown
    assert f"| {ADAPTER} on deepseek | {len(clean)} of " in page
    assert "## Beside the providers" not in page
    assert headline(before) == headline(found)


def test_the_json_marks_what_is_mine(shipped: Inputs, results: Path) -> None:
    shown = json.loads(matrix_json.render(made(shipped, results, only=True)))
    assert [] == list(validator("files/matrix").errors(shown))
    assert ["vllm (mine)"] == [each["name"] for each in shown["subjects"] if each.get("mine")]


def test_expected_failures_beside_the_results_name_them_as_the_gate_does(shipped: Inputs, tmp_path: Path) -> None:
    finding = Finding("/0", "expected a, got b", Level.MUST)
    failed = Outcome("stream/ends-with-done", Status.FAILED, Level.MUST, 1, (finding,))
    write(tmp_path, Results("vllm", "m", (Case("plain-answer", "stream", Evidence.LIVE, (failed,)),)))
    name = "vllm/plain-answer.stream/stream/ends-with-done"
    entry = f"- {{match: {name}, reason: It is known., link: https://example.com, until: 2027-01-01}}\n"
    (tmp_path / "expected-failures.yaml").write_text(entry)
    assert "expected: It is known." in own.render(made(shipped, tmp_path))


def text_of(**members: object) -> str:
    """Return the text of a file of results with some members."""
    case = Case("plain-answer", "stream", Evidence.LIVE)
    return orjson.dumps(sealed({**Results("vllm", "m", (case,)).to_json(), **members})).decode()


def test_the_command_writes_the_page_and_a_badge_that_leads_to_it(
    shipped: Inputs, results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_alone, "load_inputs", lambda: shipped)
    status, out, err = run(capsys, "report", "--results", results, "--only", "mine")
    assert (0, "") == (status, err)
    page = results / "report"
    assert {"mine.md", "matrix.html", "matrix.json", "matrix.md", "badge.svg"} <= {each.name for each in page.iterdir()}
    badge = parse_xml((page / "badge.svg").read_text())
    assert "mine.md" == badge.find("{http://www.w3.org/2000/svg}a").get("href")  # type: ignore[union-attr]
    assert f"]({page / 'mine.md'})" in out
    again = run(capsys, "report", "--results", results, "--only", "mine", "--check")
    assert (0, "") == again[::2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mine.json:1:"),
        (text_of(cases=3), "at /cases: expected"),
        (text_of(subject="nobody"), "a profile of your own is named with --provider FILE"),
        (text_of(subject="../../vllm"), "unknown provider"),
    ],
)
def test_damaged_results_are_an_error_that_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    (tmp_path / "mine.json").write_text(text)
    status, out, err = run(capsys, "report", "--results", tmp_path)
    assert (2, "", True) == (status, out, words in err), err
    assert "mine.json" in err


def test_results_of_another_version_say_what_is_not_known(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = results / "vllm.json"
    path.write_bytes(orjson.dumps(sealed(orjson.loads(path.read_text().replace("usage/adds-up", "usage/adds-down")))))
    status, _, err = run(capsys, "report", "--results", results)
    assert 2 == status
    assert "unknown rule 'usage/adds-down'; did you mean usage/adds-up" in err
    assert "results of another version of conformance have to be made again" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--results", "nothing"], "nothing: cannot be read"),
        (["--results", "."], "no results found"),
        (["--only", "mine"], "add --results DIR"),
        (["--results", ".", "--provider", "gone.yaml"], "gone.yaml: cannot be read"),
    ],
)
def test_an_unusable_call_says_what_to_do(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "report", *arguments)
    assert (2, True) == (status, words in err), err


def test_a_profile_of_ones_own_has_its_claims_on_the_page(
    shipped: Inputs, before: Table, results: Path, tmp_path: Path
) -> None:
    shutil.copy(folder("reports").parent / "conformance" / "profiles" / "vllm.yaml", tmp_path / "gateway.yaml")
    write(results, replace(read(results / "vllm.json"), subject="gateway"))
    (results / "vllm.json").unlink()
    found = table(with_own(shipped, read_own(results, (tmp_path / "gateway.yaml",))))
    assert any(cell.is_claim for cell in found.of("gateway (mine)"))
    assert headline(before) == headline(found)


def test_names_in_results_cannot_break_out_of_a_page(shipped: Inputs, tmp_path: Path) -> None:
    finding = Finding("/0", HOSTILE, Level.MUST)
    failed = Outcome("stream/ends-with-done", Status.FAILED, Level.MUST, 1, (finding,))
    case = Case("plain-answer", "stream", Evidence.LIVE, (failed,), observed={"ids": (HOSTILE,)}, note=HOSTILE)
    write(tmp_path, Results("vllm", HOSTILE, (case,), versions={HOSTILE: HOSTILE}))
    write(tmp_path, replace(Results("driver", HOSTILE, (case,), "deepseek"), versions={"a": HOSTILE}))
    page = own.render(made(shipped, tmp_path))
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", page)
    assert [] == re.findall(r"(?<!\\)<img|(?<!\\)\[a|\n# d|\x1b", outside)
    assert "--model '<img" in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert {3, 4, 5} == {len(re.findall(r"(?<!\\)\|", line)) - 1 for line in rows}


def test_results_of_the_project_are_read_in_a_checkout_and_from_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder("reports") / "results"
    for name in ("vllm.json", f"adapters/{ADAPTER}.deepseek.json", "recorded/deepseek.json", "calibration/vllm.json"):
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / "results" / name)
    interface = "hatchling.builders.hooks.plugin.interface"
    monkeypatch.setitem(sys.modules, interface, SimpleNamespace(BuildHookInterface=object))
    build = runpy.run_path(str(root.parents[1] / ".ci" / "build.py"))
    plain = read_shipped(tmp_path)
    packed = sorted(path for path in (tmp_path / "results").rglob("*.json") if "calibration" not in path.parts)
    build["pack"](tmp_path / "results", packed, tmp_path / "results.tar.xz")
    assert {"vllm.json", f"adapters/{ADAPTER}.deepseek.json", "recorded/deepseek.json"} == plain.keys()
    shutil.rmtree(tmp_path / "results")
    assert plain == read_shipped(tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.tar.xz").write_bytes(b"not an archive")
    with pytest.raises(Unusable, match="cannot be unpacked"):
        read_shipped(tmp_path / "broken")
