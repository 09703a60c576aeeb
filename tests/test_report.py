"""The published reports: a golden file of each format, what they never say, and the command that writes and checks."""

import shutil
from pathlib import Path

import orjson
import pytest

from conformance import rules
from conformance.adapters import loop
from conformance.cli import main
from conformance.documents import read_json
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import Table, table
from conformance.reporting.renderers import markdown, matrix_json, providers, published
from conformance.reporting.renderers import rules as rules_page
from conformance.reporting.text import code, markdown_table, prose
from conformance.resources import folder
from conformance.results.files import write
from conformance.schemas import validator
from tests.observations import ANSWERED, DONE, observed

GOLDEN = Path(__file__).parent / "golden" / "report"
MOST_OF_MARKDOWN = 500_000


@pytest.fixture
def made(tmp_path: Path) -> Table:
    return table(observed(tmp_path))


def shown(name: str, made: Table) -> str:
    """Return one of the reports; of the rules those two that the example speaks of."""
    if name == "rules.md":
        every: list[rules.Rule | loop.Fact] = [*rules.load(), *loop.load()]
        return rules_page.render(made, [each for each in every if each.id in (DONE, ANSWERED)])
    files = {**markdown.publish(made), **matrix_json.publish(made), **providers.publish(made)}
    return files[name]


@pytest.mark.parametrize("name", ["matrix.md", "matrix.json", "rules.md", "providers/example.md"])
def test_a_report_is_as_it_was_read_and_found_good(name: str, made: Table) -> None:
    assert (GOLDEN / Path(name).name).read_text("utf-8") == shown(name, made)


def test_the_json_is_what_its_schema_says(made: Table) -> None:
    assert [] == list(validator("files/matrix").errors(orjson.loads(matrix_json.render(made))))


def test_every_report_is_published_and_the_same_table_gives_the_same_bytes(tmp_path: Path, made: Table) -> None:
    files = published(made)
    assert {"matrix.md", "matrix.json", "rules.md", "providers/example.md"} <= files.keys()
    assert files == published(table(observed(tmp_path)))


def test_the_page_of_rules_tells_of_every_rule_and_every_fact(made: Table) -> None:
    page = published(made)["rules.md"]
    every = [*(rule.id for rule in rules.load()), *(fact.id for fact in loop.load())]
    assert [] == [name for name in every if f"\n### {name}\n" not in page]


def test_a_simulated_pass_of_a_provider_is_declared_and_an_adapters_is_its_own(made: Table) -> None:
    cells = orjson.loads(matrix_json.render(made))["cells"]
    assert "declared" == cells["example"]["tool-calls/id-in-claimed-format"][0]["verdict"]
    assert "conforms" == cells["an-sdk@1.0/example"][ANSWERED][0]["verdict"]


def test_the_headline_counts_what_the_table_holds(made: Table) -> None:
    told = headline(made)
    assert (1, 7, 1, 1, 1) == (told.providers, told.claims, told.confirmed, told.contradicted, told.unknown)
    assert (4, 1, ("Example | of <a> host",)) == (told.recordings, told.recorded, told.engines)
    assert (2, 1, 1, 2) == (told.engine_facts, told.engine_breaks, told.engine_departs, told.declared)
    assert (1, 1, 0, 1) == (told.adapters, told.pairings, told.clean_pairings, told.expected)
    assert (1, 0) == (told.played, told.clean)


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
def test_what_came_over_the_wire_ends_no_code_span_and_no_table(text: str, expected: str) -> None:
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
def test_prose_shows_markup_as_it_stands(text: str, expected: str) -> None:
    assert expected == prose(text)


def test_a_vertical_bar_ends_no_cell_of_a_table() -> None:
    assert "| a | b |\n|---|---|\n| `x\\|y` | 1 |" == markdown_table(["a", "b"], [[code("x|y"), "1"]])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return a folder of reports with the results of one provider of the project's own."""
    reports = tmp_path / "reports"
    (reports / "results").mkdir(parents=True)
    shutil.copy(folder("reports") / "results" / "xai.json", reports / "results")
    (reports / "expected-failures.yaml").write_text("[]\n")
    return reports


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_check_names_what_is_stale_and_how_to_mend_it(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == told(capsys, "report", "--results", kept)[0]
    assert 0 == told(capsys, "report", "--results", kept, "--check")[0]
    (kept / "rules.md").write_text("old")
    (kept / "providers" / "xai.md").unlink()
    (kept / "providers" / "gone.md").write_text("of a provider that there is no more")
    status, out, err = told(capsys, "report", "--results", kept, "--check")
    lines = [line.removesuffix(" is stale; run `conformance report`").rpartition("/")[2] for line in err.splitlines()]
    assert (1, ["xai.md", "rules.md", "gone.md"]) == (status, lines), out
    assert 0 == told(capsys, "report", "--results", kept)[0]
    assert (0, "") == told(capsys, "report", "--results", kept, "--check")[::2]
    assert not (kept / "providers" / "gone.md").exists()


def test_the_readme_bears_the_headline_of_today(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = kept / "README.md"
    readme.write_text("# Before\n\n<!-- headline -->\nold\n<!-- /headline -->\n\nafter\n")
    arguments = ["report", "--results", kept, "--readme", readme]
    assert 0 == told(capsys, *arguments)[0]
    _, line, _ = told(capsys, "report", "--results", kept, "--headline")
    assert f"# Before\n\n<!-- headline -->\n{line}<!-- /headline -->\n\nafter\n" == readme.read_text()
    readme.write_text(readme.read_text().replace(" claims about ", " claims of "))
    status, _, err = told(capsys, *arguments, "--check")
    assert (1, True) == (status, "README.md is stale" in err)


def test_a_readme_without_marks_is_unusable(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = kept / "README.md"
    readme.write_text("nothing")
    status, _, err = told(capsys, "report", "--results", kept, "--readme", readme)
    assert (2, True) == (status, "no place for the headline" in err)


def test_results_of_a_rule_that_there_is_no_more_are_told_of(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = kept / "results" / "xai.json"
    path.write_text(path.read_text().replace('"stream/ends-with-done"', '"stream/ends-with-dome"'))
    status, _, err = told(capsys, "report", "--results", kept)
    assert (2, True) == (status, "stream/ends-with-done" in err), err


def test_the_committed_matrix_is_no_larger_than_a_page_shows() -> None:
    page = (folder("reports") / "matrix.md").read_text("utf-8")
    assert len(page) < MOST_OF_MARKDOWN
    assert [] == list(validator("files/matrix").errors(read_json(folder("reports") / "matrix.json")))


def test_results_are_written_under_their_names(tmp_path: Path) -> None:
    names = [write(tmp_path, each).name for each in observed(tmp_path).results]
    assert ["example.json", "example.m-2.json", "an-sdk@1.0.example.json"] == names
