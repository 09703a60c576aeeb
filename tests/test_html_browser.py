"""The matrix as one HTML page in a real Chromium: mouse and keyboard, phone and paper, and hostile texts."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from conformance.reporting.matrix.table import Table
from tests.html_browser import (
    ADAPTER,
    FURTHER,
    PHONE,
    PROVIDER,
    Opening,
    crossing,
    entered,
    focused,
    move,
    of_view,
    shows,
    unfold,
)
from tests.html_pages import ADDRESSES, ATTACK, hostile, write
from tests.observations import ANSWERED, DONE, FORMAT

pytest_plugins = ["tests.html_windows"]
pytestmark = pytest.mark.slow

BROKEN: Final = "#/cell/example%3Am-2/stream%2Fends-with-done/stream/engine"
READABLE: Final = 4.5
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


def test_each_cell_shows_its_value_its_meaning_and_its_evidence(opened: Opening, made: Table) -> None:
    seen = {
        "rules": [
            (ADAPTER, ANSWERED, "✓passes: 1 checked ▲ sent"),
            (PROVIDER, FORMAT, "○not observed: 2 checked △ simulated"),
            (FURTHER, DONE, "✗fails: 1 finding ■ engine (expected)"),
        ],
        "probes": [(PROVIDER, "probes/one-tool-call: ids-empty", "○not observed: accepted △ simulated")],
        "claims": [
            (PROVIDER, "claims/reasoning.omitted-on-tool-turn", "○claimed, not observed: 400 ○ docs"),
            (PROVIDER, "claims/results.missing", "?unknown: unknown"),
        ],
    }
    for view, wanted in seen.items():
        with opened(f"#/{view}") as page:
            own = of_view(made, view)
            shows(page, len(own))
            unfold(page)
            assert len({(each.subject, each.row) for each in own}) == page.locator("td[data-row]").count()
            for subject, row, text in wanted:
                assert (crossing(page, subject, row).text_content() or "").startswith(text)


def test_filters_combine_and_are_part_of_the_address(opened: Opening, made: Table) -> None:
    with opened("#/rules") as page:
        page.get_by_text("Filter by result, evidence and kind").click()
        page.get_by_role("checkbox", name="fails", exact=True).check()
        broken = len([each for each in of_view(made, "rules") if each.verdict == "breaks"])
        shows(page, broken)
        page.get_by_role("checkbox", name="simulated", exact=True).check()
        shows(page, 1)
        assert (2, "#/rules?verdict=breaks&evidence=simulated") == (broken, page.evaluate("location.hash"))
        page.go_back()
        shows(page, broken)
        assert not page.get_by_role("checkbox", name="simulated", exact=True).is_checked()
        page.get_by_role("button", name="Clear filters").click()
        shows(page, len(of_view(made, "rules")))


def test_an_address_filters(opened: Opening, made: Table) -> None:
    filters: dict[str, Any] = {
        "#/rules?q=an-sdk": lambda cell: cell.subject == "an-sdk@1.0/example",
        "#/claims?q=example%20missing": lambda cell: cell.row == "claims/results.missing",
        "#/probes": lambda cell: cell.row.startswith("probes/"),
        "#/rules?kind=adapter": lambda cell: cell.subject.startswith("an-sdk"),
        "#/claims?evidence=sources": lambda cell: cell.evidence == "sources",
    }
    with opened() as page:
        for address, fits in filters.items():
            move(page, address)
            shows(page, len([each for each in made.cells if fits(each)]))


def test_a_permanent_link_opens_its_cell_and_closing_focuses_it(opened: Opening) -> None:
    with opened(BROKEN) as page:
        dialog = page.get_by_role("dialog")
        assert f"example:m-2: {DONE}" == dialog.get_by_role("heading").first.text_content()
        assert BROKEN == dialog.get_by_role("link", name="Permanent link").get_attribute("href")
        dialog.get_by_role("button", name="Close").click()
        assert [FURTHER, DONE] == focused(page)
        expect(page).to_have_url(re.compile("#/rules$"))
    with opened("#/cell/example/no%2Fsuch") as page:
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
        page.get_by_role("link", name="stream.done", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("contradicted by 2 recordings; confirmed by 1 recording")


def test_details_have_the_claims_with_their_sources(opened: Opening) -> None:
    with opened("#/cell/an-sdk%401.0%2Fexample/reasoning%2Fpresent-on-tool-turns") as page:
        dialog = page.get_by_role("dialog")
        named = ["reasoning.omitted-on-tool-turn", "reasoning.request-field", "thinking.mode"]
        claims = dialog.locator("h4 a").all_text_contents()
        assert named == claims
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
    with opened("#/rules") as page:
        press = page.keyboard.press
        page.get_by_text("Filter by result, evidence and kind").focus()
        for _ in range(4):
            press("Tab")
        assert "tool-calls" == page.evaluate("document.activeElement.closest('details')?.dataset.family")
        press("Enter")
        crossing(page, PROVIDER, FORMAT).wait_for()
        press("Tab")
        press("ArrowRight")
        assert [FURTHER, FORMAT] == focused(page)
        press("ArrowLeft")
        assert [PROVIDER, FORMAT] == focused(page)
        press("End")
        press("Enter")
        assert FORMAT in (page.get_by_role("dialog").get_by_role("heading").first.text_content() or "")
        press("Escape")
        assert (0, [FURTHER, FORMAT]) == (page.get_by_role("dialog").count(), focused(page))
    with opened() as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert "main" == page.evaluate("document.activeElement.id")
        page.keyboard.press("Tab")
        assert "Reasoning field" == page.evaluate("document.activeElement.textContent.replaceAll('\\u00ad', '')")


def test_controls_have_names_and_tables_have_heads(opened: Opening) -> None:
    with opened("#/rules") as page:
        unfold(page)
        crossing(page, FURTHER, DONE).click()
        page.get_by_role("dialog").wait_for()
        assert [] == _nameless(page)
        page.keyboard.press("Escape")
        assert [] == _nameless(page)
        assert 0 == page.locator("th:not([scope])").count()
        heads = [table.locator("thead th[scope=col]").count() for table in page.locator("table:visible").all()]
        assert (True, []) == (len(heads) > 3, [count for count in heads if count < 2])


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


# The test of axe-core has the light one.
@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.exhaustive)])
def test_every_text_has_enough_contrast(opened: Opening, scheme: str) -> None:
    with opened("#/rules", color_scheme=scheme) as page:
        unfold(page)
        crossing(page, FURTHER, DONE).click()
        page.get_by_role("dialog").wait_for()
        ratios = page.evaluate(CONTRASTS)
        assert len(ratios) > 50
        assert [] == [each for each in ratios if each[0] < READABLE]


def test_a_phone_scrolls_the_page_only_vertically(opened: Opening, made: Table) -> None:
    with opened(viewport=PHONE) as page:
        assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")
        for address in (
            "#/?q=example",
            "#/changes",
            "#/trust",
            "#/of/example",
            "#/compare?pin=example&pin=example:m-2",
        ):
            move(page, address)
            assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")
        move(page, "#/rules")
        unfold(page)
        assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")
        crossing(page, FURTHER, DONE).click()
        assert page.get_by_role("dialog").evaluate("(each) => each.scrollWidth <= each.clientWidth")
        assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")


def test_print_shows_the_filtered_cells_and_no_controls(opened: Opening, made: Table) -> None:
    with opened("#/rules?verdict=breaks") as page:
        assert not page.locator("#paper").is_visible()
        page.emulate_media(media="print")
        lines = page.locator("#paper tbody tr")
        lines.first.wait_for()
        broken = [each for each in of_view(made, "rules") if each.verdict == "breaks"]
        assert [each.row for each in broken] == [line.locator("td").first.text_content() for line in lines.all()]
        assert [False, False] == [page.locator(name).is_visible() for name in ("#form", "#grids")]
        page.emulate_media(media="screen")
        expect(page.locator("#paper")).to_be_hidden()
        expect(page.locator("#form")).to_be_visible()


def test_without_scripts_it_shows_the_core_facts(opened: Opening, made: Table) -> None:
    with opened(java_script_enabled=False) as page:
        assert len(made.subjects) == page.locator("table.facts tbody tr").count()
        assert page.get_by_role("table", name="What providers do").is_visible()
        assert [False, False, False] == [page.locator(f"#{each}").is_visible() for each in ("form", "asks", "views")]
        assert not page.locator(".pin").first.is_visible()


def test_hostile_texts_are_shown_as_text(opened: Opening, tmp_path: Path) -> None:
    path = write(tmp_path, hostile(tmp_path))
    with opened("#/rules", path=path) as page:
        unfold(page)
        crossing(page, 0, DONE).click()
        _is_harmless(page, 3)
    with opened("#/claims", path=path) as page:
        unfold(page)
        crossing(page, 2, "claims/stream.done").click()
        _is_harmless(page, 2)
    with opened("#/?q=script", path=path) as page:
        for address in ("", f"#/of/{quote(ATTACK + '/example', safe='')}", "#/changes", f"#/?q={quote(ATTACK)}"):
            if address:
                move(page, address)
            assert ("Compatibility matrix", 3) == (page.title(), page.locator("script").count())
            assert 0 == page.locator("img, iframe, [onclick], [onerror]").count()


def _is_harmless(page: Page, links: int) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(ATTACK.partition("\u202e")[0])
    web = [each.get_attribute("href") for each in dialog.locator("a:not([href^='#'])").all()]
    assert [ADDRESSES[1]] == web
    assert links == dialog.locator("a[href^='#']").count()
    assert ("Compatibility matrix", 3) == (page.title(), page.locator("script").count())
    assert 0 == page.locator("img, iframe, [onclick], [onerror]").count()


def test_its_policy_is_in_force(browser: Browser, made: Table, tmp_path: Path) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(write(tmp_path, made).as_uri())
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'owned = true'}))")
        assert page.evaluate("typeof owned === 'undefined'")
