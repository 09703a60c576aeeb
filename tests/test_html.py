"""The matrix as one HTML page, parsed: its content, its policy, and what becomes of hostile texts."""

import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import Inputs, Table, TableCell, table
from conformance.reporting.page.cells import MAX_FINDINGS, observed_of
from conformance.reporting.renderers import html
from conformance.reporting.text import printable
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, Results
from tests.html_pages import ATTACK, example, hostile
from tests.observations import RESENT, inputs


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
    def index(self) -> Any:
        """Return what the script reads at its start."""
        return orjson.loads(self.texts["script"][0])

    @property
    def data(self) -> Any:
        """Return the cells that the script reads later."""
        return orjson.loads(self.texts["script"][1])


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
    return [printable(text) for text in (cell.claimed, observed_of(cell), cell.expected, cell.command)]


def commanded(data: Any, subject: int, command: int, scenario: int, row: str) -> str:
    """Return the command that the script makes for a cell."""
    text: str = data["commands"][subject][command]
    return text.replace("{scenario}", data["texts"][scenario]).replace("{claim}", row.partition("/")[2])


def without_script_and_style(text: str) -> str:
    """Return a page without its script and style, and with one line per member of its data."""
    text = re.sub(r"<style>.*?</style>", "<style>…</style>", text, flags=re.S)
    text = re.sub(r'(<script type="module">).*?(</script>)', r"\1…\2", text, flags=re.S)
    page, mark, data = re.sub(r"sha256-[\w+/=]+", "sha256-…", text).partition('id="index">')
    return page + mark + data.replace(',"', ',\n"').replace("],[", "],\n[")


def test_the_page_matches_its_golden_file(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    golden("report/matrix.html", without_script_and_style(html.render(example(tmp_path))))


def test_one_file_is_published_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    assert {"matrix.html": html.render(example(tmp_path))} == html.publish(example(tmp_path))


def test_the_policy_allows_its_own_script_and_style_and_nothing_else(page: Page) -> None:
    (policy,) = [each["content"] for each in page.named("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    script, style = digest(page.texts["script"][2]), digest(page.texts["style"][0])
    expected = f"default-src 'none'; script-src {script}; style-src {style}; img-src data:; "
    assert f"{expected}base-uri 'none'; form-action 'none'" == policy


def test_it_loads_and_runs_nothing_but_its_own_script_and_style(page: Page) -> None:
    data = [{"type": "application/json", "id": name} for name in ("index", "data")]
    assert [*data, {"type": "module"}] == page.named("script")
    assert (1, []) == (len(page.texts["style"]), page.comments)
    assert [] == [tag for tag, _ in page.elements if tag in ("img", "iframe", "object", "embed", "base", "frame")]
    attributes = [(name, value) for _, found in page.elements for name, value in found.items()]
    assert [] == [name for name, _ in attributes if name.startswith("on") or name in ("src", "style", "srcset")]
    assert ["data:,"] == [value for name, value in attributes if name == "href" and not str(value).startswith("#")]


def listed(data: Any) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the cells of the data: the subject, the row and what columns say, the details with their own number."""
    steps, *columns, firsts = data["cells"]
    for row, own in enumerate(steps):
        for at, subject in enumerate(accumulate(own)):
            found = [column[row][at] for column in columns]
            found[4] += firsts[row][0]
            yield subject, row, found


def test_every_cell_of_the_table_can_be_read_from_its_data(made: Table, page: Page) -> None:
    index, data = page.index, page.data
    shown = []
    for number, row, (variant, verdict, evidence, judged, details, command, scenario) in listed(data):
        subject, named = made.subjects[number].name, index["rows"][row]["name"]
        kinds = index["verdicts"][verdict]["name"], index["evidence"][evidence]["name"]
        texts = [data["texts"][column[details]] for column in data["details"][:3]]
        repeated = commanded(data, number, command, scenario, named)
        shown.append((subject, named, data["texts"][variant], *kinds, judged, *texts, repeated))
    shown.sort(key=lambda each: (each[0], [row.name for row in made.rows].index(each[1])))
    expected = [
        (each.subject, each.row, each.variant, each.verdict.value, each.evidence, each.judged, *texts_of(each))
        for each in made.cells
    ]
    assert expected == shown


def test_findings_are_shown_up_to_a_number_and_the_others_counted(tmp_path: Path) -> None:
    given = inputs(tmp_path)
    found = tuple([Finding(f"/{number}", "expected a, got b", Level.MUST) for number in range(MAX_FINDINGS + 2)])
    case = Case("agent-session", "plain", Evidence.SIMULATED, (Outcome(RESENT, Status.FAILED, Level.MUST, 9, found),))
    adapter = Results("other@2.0", "m-1", (case,), "example")
    made = table(Inputs((*given.results, adapter), given.profiles, given.calibration))
    data = Page(html.render(made)).data
    (details,) = [found[4] for subject, _, found in listed(data) if "other" in made.subjects[subject].name]
    _, _, _, cases, findings, more, _ = [column[details] for column in data["details"]]
    assert (["agent-session.plain"], MAX_FINDINGS, 2) == ([data["texts"][each] for each in cases], len(findings), more)


def test_a_row_refers_only_to_claims_that_have_a_row(page: Page) -> None:
    rows = page.index["rows"]
    names = {row["name"] for row in rows}
    led = [name for row in rows for name in row["claims"]]
    assert ([], True) == ([name for name in led if name not in names], "claims/stream.done" in led)


def test_a_rule_has_its_fix(tmp_path: Path) -> None:
    rows = {row["name"]: row for row in Page(html.render(example(tmp_path))).index["rows"]}
    assert rows[RESENT]["fix"].startswith("Keep the reasoning of each reply with tool calls and send it back")
    assert "" == rows["claims/stream.done"]["fix"]


def test_a_simulated_pass_of_a_provider_never_conforms(tmp_path: Path) -> None:
    page = Page(html.render(example(tmp_path)))
    verdicts, evidence = ([each["name"] for each in page.index[name]] for name in ("verdicts", "evidence"))
    simulated = []
    for subject, _, (_, verdict, kind, *_) in listed(page.data):
        if evidence[kind] == "simulated" and page.index["subjects"][subject]["kind"] != "adapter":
            simulated.append(verdicts[verdict])
    assert {"declared", "unknown"} == set(simulated)


def test_without_scripts_it_shows_the_core_facts_and_the_headline(tmp_path: Path) -> None:
    made = example(tmp_path)
    text = html.render(made)
    listed = re.findall(r"<li>(.*?)</li>", text)
    assert len(headline(made).lines()) == len(listed)
    assert "<strong>7 claims about 1 provider; 7 have a source that you can open.</strong>" in listed[0]
    assert "1 provider, 1 SDK in 1 pairing, as of 2026-01-02" in text
    assert '<noscript><p class="note">Search, rules, probes, claims and details need JavaScript' in text
    values = re.findall(r'<span class="v">(.*?)</span>', text)
    assert ["400", "400", "loses"] == [each for each in values if each in ("400", "loses")]


def test_an_earlier_run_is_compared_and_its_absence_is_said(tmp_path: Path) -> None:
    given = inputs(tmp_path)
    assert Page(html.render(table(given))).index["earlier"] is None
    earlier = [each for each in given.results if not each.provider]
    found = Page(html.render(table(replace(given, earlier=earlier)))).index["earlier"]
    counts = {name: each["total"] for name, each in found.items()}
    assert {"broken": 1, "fixed": 0, "added": 1, "removed": 0} == counts
    assert [f"an-sdk@1.0/example/agent-session.plain/{RESENT}"] == found["broken"]["names"]


def test_headings_are_in_order_and_table_heads_have_a_scope(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert (1, [2]) == (levels[0], sorted(set(levels[1:])))
    assert [] == [each for each in page.named("th") if each.get("scope") not in ("col", "row")]


def test_hostile_texts_end_no_element_and_are_kept(tmp_path: Path) -> None:
    text = html.render(hostile(tmp_path))
    assert (3, 3) == (text.count("<script"), text.count("</script"))
    assert (0, 0) == (text.count("<!--"), text.count("<img"))
    page = Page(text)
    texts = page.data["texts"]
    assert ATTACK.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\u2028", "\\u2028") in texts
    assert [] == [each for each in texts if not each.isprintable()]


def test_its_script_is_valid(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NOT RUN: there is no node, so the page's script was not parsed here")
    path = tmp_path / "page.mjs"
    path.write_text(Page(html.render(example(tmp_path))).texts["script"][2], "utf-8")
    checked = subprocess.run([node, "--check", path], capture_output=True, text=True, check=False)
    assert (0, "") == (checked.returncode, checked.stderr)
