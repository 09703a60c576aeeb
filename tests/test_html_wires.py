"""A provider with several APIs on the page, in a real Chromium: chosen, pinned, compared, saved, and on a phone."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Page, expect

from conformance.reporting.matrix.table import table
from tests import wired
from tests.html_browser import PHONE, Opening
from tests.html_pages import write
from tests.sampling import some

pytest_plugins = ["tests.html_windows"]
pytestmark = pytest.mark.slow

WIRED = ["wired", "wired.gemini", "wired.messages", "wired.responses"]
VIEWS = (
    "#/",
    "#/?wire=messages",
    "#/of/wired",
    "#/of/lone",
    "#/compare?pin=wired&pin=wired.gemini",
    "#/rules?wire=gemini",
)


@pytest.fixture(name="file", scope="module")
def page_of_wires(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wired")
    return write(folder, table(wired.inputs(folder)))


@pytest.fixture(name="opened_at")
def opener(opened: Opening, file: Path) -> Opening:
    @contextmanager
    def opening(address: str = "", path: Path | None = None, **window: Any) -> Iterator[Page]:
        with opened(address, path or file, **window) as page:
            yield page

    return opening


def subjects(page: Page) -> list[str]:
    found: list[str] = page.locator("tr[data-subject]:visible").evaluate_all(
        "(rows) => rows.map((row) => row.dataset.subject)"
    )
    return found


def test_an_api_is_chosen_for_every_view(opened_at: Opening) -> None:
    with opened_at() as page:
        page.get_by_label("API").select_option("Anthropic Messages")
        expect(page.locator("#count")).to_have_text("1 provider row, 1 SDK row.")
        assert ["wired.messages", "an-sdk@1.0/wired.messages"] == subjects(page)
        page.get_by_role("link", name="SDKs that lose reasoning").click()
        expect(page.locator("#answer .breaks")).to_have_text("✗ loses (1): an-sdk (messages)")
        page.get_by_role("link", name="Rules", exact=True).click()
        expect(page.locator("#count")).to_contain_text("2 subjects")
        page.get_by_role("button", name="Clear", exact=True).click()
        expect(page.get_by_label("API")).to_have_value("")
    with opened_at("#/?wire=constructor") as page:
        assert 8 == len(subjects(page))


def test_a_search_for_a_provider_finds_the_sdks_on_all_its_apis(opened_at: Opening) -> None:
    with opened_at("#/?q=wired") as page:
        expect(page.locator("#answer h2")).to_have_text("1 SDK on Wired: is reasoning sent back?")
        expect(page.locator("#answer p.breaks")).to_have_text("✗ loses (1): an-sdk (messages)")
        expect(page.locator("#answer p.works")).to_have_text("✓ keeps (1): an-sdk")


@pytest.mark.parametrize("name", some(WIRED, mark=pytest.mark.exhaustive))
def test_the_page_of_a_provider_has_a_column_for_each_api(opened_at: Opening, name: str) -> None:
    with opened_at(f"#/of/{name}") as page:
        columns = page.get_by_role("table", name="Core facts by API")
        assert ["Fact", "Chat", "Gemini", "Messages", "Responses"] == columns.locator("thead th").all_inner_texts()
        omitted = columns.locator("tbody tr").nth(1).locator("td .v")
        assert ["accepted", "unknown", "400", "damaged"] == omitted.all_inner_texts()
        current = columns.locator("[aria-current=page]")
        assert f"#/of/{name}" == current.get_attribute("href")
        page.get_by_role("link", name="Compare every rule").click()
        expect(page.locator("table[aria-label=Comparison] thead th")).to_have_text(["Row", *WIRED])


def test_a_provider_without_chat_completions_is_found_by_its_name(opened_at: Opening) -> None:
    with opened_at("#/of/lone") as page:
        expect(page.locator("#other h2")).to_have_text("Lone (gemini)")
        expect(page.get_by_role("table", name="Core facts by API")).to_have_count(0)
    with opened_at("#/compare?pin=lone&pin=wired.gemini&pin=wired.gemini&pin=nobody") as page:
        expect(page.locator("#other h2")).to_have_text("From Lone to Wired (gemini)")


def test_pins_are_of_one_api(opened_at: Opening) -> None:
    with opened_at() as page:
        page.get_by_role("button", name="Pin wired.responses").click()
        page.get_by_role("searchbox").fill("lone")
        expect(page.locator("#count")).to_contain_text("row")
        assert ["wired.responses", "lone.gemini", "other-sdk@2.0/lone.gemini"] == subjects(page)


def test_downloads_name_the_api(opened_at: Opening) -> None:
    with opened_at() as page:
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download as CSV").click()
        found = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text("utf-8"))))
    assert ("wired.gemini", "gemini", "thought parts") in {(row["subject"], row["wire"], row["field"]) for row in found}


@pytest.mark.parametrize(
    ("scheme", "view"), some(product(("light", "dark"), VIEWS), 7, "-".join, mark=pytest.mark.exhaustive)
)
def test_a_phone_shows_all_apis_without_scrolling_sideways(opened_at: Opening, view: str, scheme: str) -> None:
    with opened_at(view, viewport=PHONE, color_scheme=scheme) as page:
        page.evaluate(AXE_FILE_PATH.read_text("utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [] == [each["id"] for each in found["violations"]]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        cut = """() => [...document.querySelectorAll("table.facts :is(th, td)")].filter((each) => each.checkVisibility()
          && each.scrollWidth > each.clientWidth).map((each) => each.textContent)"""
        assert [] == page.evaluate(cut)
