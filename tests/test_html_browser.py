"""The matrix as one HTML page in a real Chromium: mouse and keyboard, phone and paper, and hostile texts."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from conformance.reporting.matrix.table import Table, TableCell
from tests.html_pages import ADDRESSES, ATTACK, example, hostile, write
from tests.observations import ANSWERED, DONE, FORMAT, RESENT

pytestmark = pytest.mark.slow

ADAPTER, PROVIDER, FURTHER = range(3)
"""The numbers of the example's subjects."""
BROKEN: Final = "#/example%3Am-2/stream%2Fends-with-done/stream/engine"
READABLE: Final = 4.5
PHONE: Final = {"width": 360, "height": 740}
NAMED: Final = frozenset("button checkbox combobox searchbox link region grid dialog DisclosureTriangle".split())

# The ratio of WCAG 2.2 (1.4.3) of every element with text of its own, to what is painted behind it.
CONTRASTS: Final = """() => {
  const parse = (text) => text.match(/[0-9.]+/g).map(Number);
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = (color) => {
    const [red, green, blue] = color.slice(0, 3).map((part) => linear(part / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    throw new Error("nothing is painted behind it");
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const shown = [...document.querySelectorAll("body *")].filter((each) => hasText(each) && each.checkVisibility());
  return shown.map((each) => {
    const lights = [light(parse(getComputedStyle(each).color)), light(ground(each))].sort((a, b) => b - a);
    return [(lights[0] + 0.05) / (lights[1] + 0.05), `${each.tagName} ${each.textContent.slice(0, 40)}`];
  });
}"""


class Opening(Protocol):
    """Opens a page in a new window; it must log nothing and request nothing but itself."""

    def __call__(self, address: str = "", path: Path | None = None, **window: Any) -> AbstractContextManager[Page]: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        message = "NOT RUN: there is no chromium, so the page was opened in no browser"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    # Root has no sandbox in Chromium; what is opened is a file of the tests' own.
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]) as launched,
    ):
        yield launched


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return example(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def opened(browser: Browser, made: Table, tmp_path_factory: pytest.TempPathFactory) -> Opening:
    written = write(tmp_path_factory.mktemp("page"), made)

    @contextmanager
    def opening(address: str = "", path: Path | None = None, **window: Any) -> Iterator[Page]:
        file = (path or written).as_uri()
        logged: list[str] = []
        requested: list[str] = []
        with browser.new_context(**window) as context:
            page = context.new_page()
            page.set_default_timeout(5_000)
            page.on("console", lambda message: logged.append(message.text))
            page.on("pageerror", lambda error: logged.append(str(error)))
            page.on("request", lambda request: requested.append(request.url.partition("#")[0]))
            page.goto(file + address)
            yield page
            assert ([], [file]) == (logged, requested)

    return opening


def shows(page: Page, count: int) -> None:
    """Wait until the page shows this number of cells."""
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{count} cells? of "))


def unfold(page: Page) -> None:
    """Open everything that folds, and wait for the last table."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.locator("#grids details:last-child td[data-row]").first.wait_for()


def crossing(page: Page, subject: int, row: str) -> Locator:
    head = page.locator("th code").get_by_text(row.partition("/")[2], exact=True)
    return page.locator("[role=grid] tr").filter(has=head).locator(f"td[data-subject='{subject}']")


def focused(page: Page) -> Any:
    """Return the number of the subject and the row of the focused cell."""
    subject, row = page.evaluate("(({subject, row}) => [Number(subject), Number(row)])(document.activeElement.dataset)")
    rows = page.evaluate("JSON.parse(document.getElementById('data').textContent).rows.map((row) => row.name)")
    return [subject, rows[row]]


def entered(made: Table, subject: int, row: str) -> TableCell:
    (found,) = [each for each in made.cells if (each.subject, each.row) == (made.subjects[subject].name, row)]
    return found


def test_each_cell_shows_verdict_evidence_and_whether_it_was_expected(opened: Opening, made: Table) -> None:
    with opened() as page:
        shows(page, len(made.cells))
        unfold(page)
        assert len({(each.subject, each.row) for each in made.cells}) == page.locator("td[data-row]").count()
        for subject, row, seen, read in (
            (ADAPTER, ANSWERED, "✓ sim", "conforms, simulated, plain. "),
            (PROVIDER, FORMAT, "○ sim", "declared, simulated, plain. "),
            (FURTHER, DONE, "✗ eng exp.", "breaks, engine, stream, expected. "),
        ):
            cell = crossing(page, subject, row)
            assert seen == cell.locator("[aria-hidden]").text_content()
            assert read == cell.locator(".unseen").text_content()


def test_filters_combine_and_are_part_of_the_address(opened: Opening, made: Table) -> None:
    with opened() as page:
        simulated = page.get_by_role("checkbox", name="simulated", exact=True)
        page.get_by_role("checkbox", name="breaks", exact=True).check()
        broken = len([each for each in made.cells if each.verdict == "breaks"])
        shows(page, broken)
        simulated.check()
        shows(page, 1)
        assert (2, "#?verdict=breaks&evidence=simulated") == (broken, page.evaluate("location.hash"))
        page.go_back()
        shows(page, broken)
        assert not simulated.is_checked()
        page.get_by_role("button", name="Clear filters").click()
        shows(page, len(made.cells))


@pytest.mark.parametrize(
    ("address", "fits"),
    [
        ("#?q=an-sdk%401.0%2Fexample", lambda cell: cell.subject == "an-sdk@1.0/example"),
        ("#?rule=missing", lambda cell: cell.row == "claims/results.missing"),
        ("#?family=claims,probes", lambda cell: cell.row.startswith(("claims/", "probes/"))),
        ("#?kind=adapter", lambda cell: cell.subject.startswith("an-sdk")),
        ("#?evidence=sources", lambda cell: cell.evidence == "sources"),
        ("#?provider=nobody", lambda _: False),
    ],
)
def test_an_address_filters(opened: Opening, made: Table, address: str, fits: Any) -> None:
    with opened(address) as page:
        shows(page, len([each for each in made.cells if fits(each)]))


def test_a_permanent_link_opens_its_cell_and_closing_focuses_it(opened: Opening) -> None:
    with opened(BROKEN) as page:
        dialog = page.get_by_role("dialog")
        assert f"{DONE} Example | of <a> host" == dialog.get_by_role("heading").first.text_content()
        assert BROKEN == dialog.get_by_role("link", name="Permanent link").get_attribute("href")
        dialog.get_by_role("button", name="Close").click()
        assert [FURTHER, DONE] == focused(page)
        page.wait_for_function("!location.hash.includes('example')")
    with opened("#/example/no%2Fsuch") as page:
        assert "There is no cell for example, no/such." in page.get_by_role("dialog").inner_text()


def test_details_have_the_findings_and_the_command_that_repeats_them(opened: Opening, made: Table) -> None:
    cell = entered(made, FURTHER, DONE)
    with opened(BROKEN) as page:
        shown = page.get_by_role("dialog").inner_text()
        (found,) = cell.findings
        wanted = (
            cell.claimed,
            cell.expected,
            *cell.cases,
            found.at,
            found.message.replace("`", ""),
            found.excerpt,
            found.asked,
            cell.command,
        )
        assert [] == [text for text in wanted if not text or text not in shown]
        page.get_by_role("link", name="claims/stream.done").click()
        expect(page.get_by_role("dialog")).to_contain_text("contradicted by 2 recordings; confirmed by 1 recording")


def test_details_have_the_claims_with_their_sources(opened: Opening) -> None:
    with opened("#/an-sdk%401.0%2Fexample/reasoning%2Fpresent-on-tool-turns") as page:
        dialog = page.get_by_role("dialog")
        named = ["reasoning.omitted-on-tool-turn", "reasoning.request-field", "thinking.mode"]
        claims = dialog.locator("h4 a").all_text_contents()
        assert [f"claims/{name}" for name in named] == claims
        shown = dialog.inner_text()
        texts = (
            "refused with 400",
            "from 2026-01",
            "high",
            "Since the model thinks.",
            "a letter",
            "One report.",
            "accepted",
        )
        assert [] == [text for text in texts if text not in shown]
        links = [each.get_attribute("href") for each in dialog.locator(".origins a").all()]
        assert ["https://example.com/back", "https://example.com/back", "https://example.com/think"] == links


def test_everything_can_be_reached_by_keyboard(opened: Opening) -> None:
    with opened("#?rule=tool") as page:
        press = page.keyboard.press
        for key in ("Tab", "Enter", "Tab"):
            press(key)
        assert "reasoning" == page.evaluate("document.activeElement.closest('details')?.dataset.family")
        press("Enter")
        crossing(page, ADAPTER, RESENT).wait_for()
        press("Tab")
        assert [ADAPTER, RESENT] == focused(page)
        press("Tab")
        press("Enter")
        crossing(page, PROVIDER, FORMAT).wait_for()
        press("Tab")
        press("ArrowRight")
        assert [FURTHER, FORMAT] == focused(page)
        for key in ("ArrowLeft", "ArrowLeft", "ArrowUp"):
            press(key)
        assert [PROVIDER, FORMAT] == focused(page)
        press("End")
        press("Enter")
        assert FORMAT in (page.get_by_role("dialog").get_by_role("heading").first.text_content() or "")
        press("Escape")
        assert (0, [FURTHER, FORMAT]) == (page.get_by_role("dialog").count(), focused(page))


def test_controls_have_names_and_tables_have_heads(opened: Opening) -> None:
    with opened() as page:
        unfold(page)
        crossing(page, FURTHER, DONE).click()
        page.get_by_role("dialog").wait_for()
        assert [] == _nameless(page)
        page.keyboard.press("Escape")
        assert [] == _nameless(page)
        assert 0 == page.locator("th:not([scope])").count()
        heads = [table.locator("thead th[scope=col]").count() for table in page.locator("table:visible").all()]
        assert (True, []) == (len(heads) > 6, [count for count in heads if count < 2])


def _nameless(page: Page) -> list[str]:
    """Return the roles of nodes without a name in Chromium's accessibility tree."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in nodes if not node["ignored"] and node["role"]["value"] in NAMED]
    assert len(shown) > 5
    return [node["role"]["value"] for node in shown if not node.get("name", {}).get("value", "").strip()]


def test_headings_skip_no_level(opened: Opening) -> None:
    with opened(BROKEN) as page:
        for holder, first in (("body > :not(dialog)", "1"), ("dialog", "2")):
            levels = [int(name[1]) for name in page.evaluate(_HEADINGS, holder)]
            assert first == str(levels[0])
            assert [] == [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1]


_HEADINGS: Final = """(holder) => [...document.querySelectorAll(holder)].flatMap(
  (each) => [...each.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((heading) => heading.tagName))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(opened: Opening, scheme: str) -> None:
    with opened(color_scheme=scheme) as page:
        unfold(page)
        crossing(page, FURTHER, DONE).click()
        page.get_by_role("dialog").wait_for()
        ratios = page.evaluate(CONTRASTS)
        assert len(ratios) > 100
        assert [] == [each for each in ratios if each[0] < READABLE]


def test_a_phone_scrolls_the_page_only_vertically(opened: Opening, made: Table) -> None:
    with opened(viewport=PHONE) as page:
        unfold(page)
        assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")
        crossing(page, FURTHER, DONE).click()
        assert page.get_by_role("dialog").evaluate("(each) => each.scrollWidth <= each.clientWidth")
        assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")


def test_print_shows_the_filtered_cells_and_no_controls(opened: Opening, made: Table) -> None:
    with opened("#?verdict=breaks") as page:
        assert not page.locator("#paper").is_visible()
        page.emulate_media(media="print")
        lines = page.locator("#paper tbody tr")
        lines.first.wait_for()
        broken = [each for each in made.cells if each.verdict == "breaks"]
        assert [each.row for each in broken] == [line.locator("td").first.text_content() for line in lines.all()]
        assert [False, False] == [page.locator(name).is_visible() for name in ("#form", "#cells")]
        page.emulate_media(media="screen")
        expect(page.locator("#paper")).to_be_hidden()
        expect(page.locator("#form")).to_be_visible()


def test_without_scripts_it_shows_subjects_and_evidence(opened: Opening, made: Table) -> None:
    with opened(java_script_enabled=False) as page:
        assert page.get_by_role("table", name="Cells by evidence and verdict").is_visible()
        assert len(made.subjects) == page.locator(".who tbody tr").count()
        assert not page.locator("#controls").is_visible()


def test_hostile_texts_are_shown_as_text(opened: Opening, tmp_path: Path) -> None:
    with opened(path=write(tmp_path, hostile(tmp_path))) as page:
        unfold(page)
        for subject, row, links in ((0, DONE, 2), (2, "claims/stream.done", 1)):
            crossing(page, subject, row).click()
            dialog = page.get_by_role("dialog")
            expect(dialog).to_contain_text(ATTACK.partition("\u202e")[0])
            web = [each.get_attribute("href") for each in dialog.locator("a:not([href^='#'])").all()]
            assert [ADDRESSES[1]] == web
            assert links == dialog.locator("a[href^='#']").count()
            page.keyboard.press("Escape")
        assert ("Compatibility matrix", 2) == (page.title(), page.locator("script").count())
        assert 0 == page.locator("img, iframe, [onclick], [onerror]").count()


def test_its_policy_is_in_force(browser: Browser, made: Table, tmp_path: Path) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(write(tmp_path, made).as_uri())
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'owned = true'}))")
        assert page.evaluate("typeof owned === 'undefined'")
