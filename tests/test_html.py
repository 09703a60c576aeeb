"""The matrix as one HTML page, parsed: its content, its policy, and what becomes of hostile texts."""

import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import Table, TableCell, load_inputs, table
from conformance.reporting.renderers import html
from conformance.reporting.text import printable
from tests.html_pages import ATTACK, example, hostile

LARGEST_PAGE: Final = 6_000_000
CELL_WIDTH: Final = 6


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.open = ""
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = self.open if tag != self.open else ""

    def handle_data(self, data: str) -> None:
        if self.open in self.texts:
            self.texts[self.open][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self) -> Any:
        """Return what the script reads."""
        return orjson.loads(self.texts["script"][0])


@pytest.fixture(params=[example, hostile], ids=["example", "hostile"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    found: Table = request.param(tmp_path)
    return found


@pytest.fixture
def page(made: Table) -> Page:
    return Page(html.render(made))


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def texts_of(cell: TableCell) -> list[str]:
    return [printable(text) for text in (cell.claimed, cell.observed, cell.expected, cell.command)]


def without_script_and_style(text: str) -> str:
    """Return a page without its script and style, and with one line per member of its data."""
    text = re.sub(r"<style>.*?</style>", "<style>…</style>", text, flags=re.S)
    text = re.sub(r'(<script type="module">).*?(</script>)', r"\1…\2", text, flags=re.S)
    page, mark, data = re.sub(r"sha256-[\w+/=]+", "sha256-…", text).partition('id="data">')
    return page + mark + data.replace(',"', ',\n"').replace("],[", "],\n[")


def test_the_page_matches_its_golden_file(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    golden("report/matrix.html", without_script_and_style(html.render(example(tmp_path))))


def test_one_file_is_published_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    assert {"matrix.html": html.render(example(tmp_path))} == html.publish(example(tmp_path))


def test_the_policy_allows_its_own_script_and_style_and_nothing_else(page: Page) -> None:
    (policy,) = [each["content"] for each in page.named("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    script, style = digest(page.texts["script"][1]), digest(page.texts["style"][0])
    expected = f"default-src 'none'; script-src {script}; style-src {style}; img-src data:; "
    assert f"{expected}base-uri 'none'; form-action 'none'" == policy


def test_it_loads_and_runs_nothing_but_its_own_script_and_style(page: Page) -> None:
    assert [{"type": "application/json", "id": "data"}, {"type": "module"}] == page.named("script")
    assert (1, []) == (len(page.texts["style"]), page.comments)
    assert [] == [tag for tag, _ in page.elements if tag in ("img", "iframe", "object", "embed", "base", "frame")]
    attributes = [(name, value) for _, found in page.elements for name, value in found.items()]
    assert [] == [name for name, _ in attributes if name.startswith("on") or name in ("src", "style", "srcset")]
    assert {"data:,", "#cells"} == {value for name, value in attributes if name == "href"}


def test_every_cell_of_the_table_can_be_read_from_its_data(made: Table, page: Page) -> None:
    data = page.data
    assert len(made.cells) == sum(len(numbers) for numbers in data["cells"]) // CELL_WIDTH
    shown = []
    for number, numbers in enumerate(data["cells"]):
        for at in range(0, len(numbers), CELL_WIDTH):
            row, variant, verdict, evidence, judged, details = numbers[at : at + CELL_WIDTH]
            name = made.subjects[number].name
            names = data["verdicts"][verdict]["name"], data["evidence"][evidence]["name"]
            texts = [data["texts"][each] for each in data["details"][details][:4]]
            shown.append((name, data["rows"][row]["name"], data["texts"][variant], *names, judged, *texts))
    expected = [
        (each.subject, each.row, each.variant, each.verdict.value, each.evidence, each.judged, *texts_of(each))
        for each in made.cells
    ]
    assert expected == shown


def test_a_row_refers_only_to_claims_that_have_a_row(page: Page) -> None:
    rows = page.data["rows"]
    names = {row["name"] for row in rows}
    led = [name for row in rows for name in row["claims"]]
    assert ([], True) == ([name for name in led if name not in names], "claims/stream.done" in led)


def test_a_simulated_pass_of_a_provider_never_conforms(tmp_path: Path) -> None:
    data = Page(html.render(example(tmp_path))).data
    verdicts, evidence = ([each["name"] for each in data[name]] for name in ("verdicts", "evidence"))
    simulated = []
    for subject, numbers in zip(data["subjects"], data["cells"], strict=True):
        pairs = {(verdicts[numbers[at + 2]], evidence[numbers[at + 3]]) for at in range(0, len(numbers), CELL_WIDTH)}
        simulated += [verdict for verdict, kind in pairs if kind == "simulated" and subject["kind"] != "adapter"]
    assert {"declared", "unknown"} == set(simulated)


def test_without_scripts_it_shows_the_headline_and_the_numbers(tmp_path: Path) -> None:
    made = example(tmp_path)
    text = html.render(made)
    listed = re.findall(r"<li>(.*?)</li>", text)
    assert len(headline(made).lines()) == len(listed)
    assert "<strong>7 claims about 1 provider, each with its source.</strong>" in listed[0]
    assert "1 adapter, 2 hosts; 4 rules, 2 probes, 8 claims; 15 cells." in text
    assert '<noscript><p class="note">Filters, tables of cells and their details need JavaScript' in text


def test_headings_are_in_order_and_table_heads_have_a_scope(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert (1, [2]) == (levels[0], sorted(set(levels[1:])))
    assert [] == [each for each in page.named("th") if each.get("scope") not in ("col", "row")]


def test_hostile_texts_end_no_element_and_are_kept(tmp_path: Path) -> None:
    text = html.render(hostile(tmp_path))
    assert (2, 2) == (text.count("<script"), text.count("</script"))
    assert (0, 0) == (text.count("<!--"), text.count("<img"))
    texts = Page(text).data["texts"]
    assert ATTACK.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\u2028", "\\u2028") in texts
    assert [] == [each for each in texts if not each.isprintable()]


@pytest.mark.slow
def test_the_page_of_the_committed_results_is_not_too_large() -> None:
    assert len(html.render(table(load_inputs())).encode()) < LARGEST_PAGE


def test_its_script_is_valid(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NOT RUN: there is no node, so the page's script was parsed by nothing here")
    path = tmp_path / "page.mjs"
    path.write_text(Page(html.render(example(tmp_path))).texts["script"][1], "utf-8")
    checked = subprocess.run([node, "--check", path], capture_output=True, text=True, check=False)
    assert (0, "") == (checked.returncode, checked.stderr)
