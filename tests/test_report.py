"""The published reports: golden files, what they must never claim, and the command that writes and checks them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from conformance import rules
from conformance.adapters import loop
from conformance.broken_clients import BrokenClients
from conformance.cli import main
from conformance.cli.results.report import _alone
from conformance.documents import read_json
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import Table, table
from conformance.reporting.renderers import markdown, matrix_json, providers, published
from conformance.reporting.renderers import rules as rules_page
from conformance.reporting.text import code, markdown_table, prose
from conformance.resources import folder
from conformance.results.files import write
from conformance.results.record import sealed
from conformance.schemas import validator
from tests.observations import ANSWERED, DONE, inputs

MAX_MARKDOWN = 500_000


@pytest.fixture
def made(tmp_path: Path) -> Table:
    return table(inputs(tmp_path))


def shown(name: str, made: Table) -> str:
    """Return one of the reports; the page of rules has only the two of the example."""
    if name == "rules.md":
        every: list[rules.Rule | loop.Fact] = [*rules.of_traffic(), *loop.load()]
        broken = {DONE: BrokenClients({"an-sdk@1.2.3": "call", "other": "hang"}, 31, ("done-missing",))}
        return rules_page.render(made, [each for each in every if each.id in (DONE, ANSWERED)], broken.get)
    files = {**markdown.publish(made), **matrix_json.publish(made), **providers.publish(made)}
    return files[name]


@pytest.mark.parametrize("name", ["matrix.md", "matrix.json", "rules.md", "providers/example.md"])
def test_a_report_matches_its_golden_file(name: str, made: Table, golden: Callable[[str, str], None]) -> None:
    golden(f"report/{Path(name).name}", shown(name, made))


def test_the_json_is_valid_by_its_schema(made: Table) -> None:
    assert [] == list(validator("files/matrix").errors(orjson.loads(matrix_json.render(made))))


def test_every_report_is_published_and_the_same_table_gives_the_same_bytes(tmp_path: Path, made: Table) -> None:
    files = published(made)
    assert {"matrix.md", "matrix.json", "rules.md", "providers/example.md"} <= files.keys()
    assert files == published(table(inputs(tmp_path)))


def test_the_page_of_rules_has_every_rule_and_every_loop_fact(made: Table) -> None:
    page = published(made)["rules.md"]
    every = [*(rule.id for rule in rules.of_traffic()), *(fact.id for fact in loop.load())]
    assert [] == [name for name in every if f"\n### {name}\n" not in page]


def test_a_simulated_pass_is_declared_for_a_provider_and_conforms_for_an_adapter(made: Table) -> None:
    cells = orjson.loads(matrix_json.render(made))["cells"]
    assert "declared" == cells["example"]["tool-calls/id-in-claimed-format"][0]["verdict"]
    assert "conforms" == cells["an-sdk@1.0/example"][ANSWERED][0]["verdict"]


def test_the_headline_counts_what_the_table_holds(made: Table) -> None:
    numbers = headline(made)
    assert (1, 7, 1, 1, 1) == (
        numbers.providers,
        numbers.claims,
        numbers.confirmed,
        numbers.contradicted,
        numbers.unknown,
    )
    assert (4, 1, ("Example | of <a> host",)) == (numbers.recordings, numbers.recorded, numbers.engines)
    assert (2, 1, 1, 2) == (numbers.engine_facts, numbers.engine_breaks, numbers.engine_departs, numbers.declared)
    assert (1, 1, 0, 1) == (numbers.adapters, numbers.pairings, numbers.clean_pairings, numbers.expected)
    assert (1, 0) == (numbers.played, numbers.clean)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a|b", "`a|b`"),
        ("a`b", "``a`b``"),
        ("`a`", "`` `a` ``"),
        ("two\nlines\x1b[0m", "`two\\nlines\\x1b[0m`"),
    ],
)
def test_no_text_ends_its_code_span(text: str, expected: str) -> None:
    assert expected == code(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<b> | *x* [y](z)", "\\<b\\> | \\*x\\* \\[y\\](z)"),
        ("send `a_b` as a_b", "send `a_b` as a\\_b"),
        ("a ` alone", "a \\` alone"),
        ("two\nlines", "two lines"),
    ],
)
def test_prose_escapes_markup_except_code(text: str, expected: str) -> None:
    assert expected == prose(text)


def test_a_vertical_bar_does_not_end_a_table_cell() -> None:
    assert "| a | b |\n|---|---|\n| `x\\|y` | 1 |" == markdown_table(["a", "b"], [[code("x|y"), "1"]])


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of reports of a checkout that has the results of one provider."""
    reports = tmp_path / "reports"
    monkeypatch.setattr(_alone, "checkout_folder", lambda *_: reports)
    (tmp_path / "README.md").write_text("<!-- headline -->\n<!-- /headline -->\n")
    (reports / "results").mkdir(parents=True)
    shutil.copy(folder("reports") / "results" / "xai.json", reports / "results")
    (reports / "expected-failures.yaml").write_text("[]\n")
    return reports


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.slow
def test_a_check_names_stale_reports_and_the_command_that_updates_them(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run(capsys, "report")[0]
    assert 0 == run(capsys, "report", "--check")[0]
    (reports / "rules.md").write_text("old")
    (reports / "providers" / "xai.md").unlink()
    (reports / "providers" / "gone.md").write_text("of a removed provider")
    status, out, err = run(capsys, "report", "--check")
    lines = [line.removesuffix(" is stale; run `conformance report`").rpartition("/")[2] for line in err.splitlines()]
    assert (1, ["xai.md", "rules.md", "gone.md"]) == (status, lines), out
    assert 0 == run(capsys, "report")[0]
    assert (0, "") == run(capsys, "report", "--check")[::2]
    assert not (reports / "providers" / "gone.md").exists()


def test_the_readme_has_the_current_headline(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = reports / "README.md"
    readme.write_text("# Before\n\n<!-- headline -->\nold\n<!-- /headline -->\n\nafter\n")
    arguments = ["report", "--readme", readme]
    assert 0 == run(capsys, *arguments)[0]
    _, line, _ = run(capsys, "report", "--headline")
    assert f"# Before\n\n<!-- headline -->\n{line}<!-- /headline -->\n\nafter\n" == readme.read_text()
    readme.write_text(readme.read_text().replace(" claims about ", " claims of "))
    status, _, err = run(capsys, *arguments, "--check")
    assert (1, True) == (status, "README.md is stale" in err)


def test_a_readme_without_marks_is_unusable(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = reports / "README.md"
    readme.write_text("nothing")
    status, _, err = run(capsys, "report", "--readme", readme)
    assert (2, True) == (status, "no place for the headline" in err)


def test_an_unknown_rule_in_results_is_an_error(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = reports / "results" / "xai.json"
    value = orjson.loads(path.read_text().replace('"stream/ends-with-done"', '"stream/ends-with-dome"'))
    path.write_bytes(orjson.dumps(sealed(value)))
    status, _, err = run(capsys, "report")
    assert (2, True) == (status, "stream/ends-with-done" in err), err


def test_the_committed_matrix_is_small_enough_for_github_to_render() -> None:
    page = (folder("reports") / "matrix.md").read_text("utf-8")
    assert len(page) < MAX_MARKDOWN
    assert [] == list(validator("files/matrix").errors(read_json(folder("reports") / "matrix.json")))


def test_files_of_results_are_named_after_their_subjects(tmp_path: Path) -> None:
    names = [write(tmp_path, each).name for each in inputs(tmp_path).results]
    assert ["example.json", "example.m-2.json", "an-sdk@1.0.example.json"] == names
