"""Search, order, comparison, downloads and the pages of single subjects, in a real Chromium; axe-core on each view."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Page, expect

from conformance.adapters.timeline import Timeline
from conformance.reporting.matrix.table import table
from tests.html_browser import PHONE, Opening, move
from tests.html_pages import write
from tests.observations import RESENT, inputs

pytest_plugins = ["tests.html_windows"]
pytestmark = pytest.mark.slow

VIEWS: Final = (
    "#/",
    "#/?ask=omitted",
    "#/?q=example",
    "#/?q=nobody",
    "#/rules",
    "#/changes",
    "#/trust",
    "#/of/an-sdk%401.0%2Fexample",
    "#/compare?pin=example&pin=an-sdk%401.0%2Fexample",
    "#/cell/example/claims%2Freasoning.omitted-on-tool-turn",
)
AXE: Final = "axe.run(document, {resultTypes: ['violations']})"


def test_an_empty_result_says_why(opened: Opening) -> None:
    with opened("#/?q=exampl2") as page:
        expect(page.locator("#answer")).to_contain_text("Nothing has “exampl2”; this is for “Example")
        expect(page.locator("#count")).to_have_text("2 provider rows, 1 SDK row.")
    with opened("#/?q=nobodies") as page:
        expect(page.locator("#count")).to_contain_text("No provider or SDK has “nobodies”")
    with opened("#/rules?q=an-sdk&evidence=live") as page:
        expect(page.locator("#count")).to_have_text("The filters hide all 2 cells that “an-sdk” finds.")
    with opened("#/rules?q=nobody") as page:
        expect(page.locator("#count")).to_contain_text("Nothing here has “nobody”")


def test_rows_are_sorted_pinned_and_compared(opened: Opening) -> None:
    with opened() as page:
        names = page.locator("#providers tbody tr:visible th a")
        page.get_by_role("button", name="Pin example:m-2").click()
        expect(names.first).to_have_text("Example | of <a> host · m-2")
        page.get_by_role("button", name="Compare example:m-2 with an-sdk@1.0/example").click()
        lines = page.get_by_role("table", name="Comparison")
        heads = ["Row", "example:m-2", "an-sdk@1.0/example"]
        assert heads == lines.locator("thead th").all_text_contents()
        page.go_back()
        page.get_by_role("button", name="Pin example:m-2").click()
        page.locator("#providers").get_by_role("button", name=re.compile("omitted")).click()
        expect(page.locator("#providers th[aria-sort=descending]")).to_have_count(1)
        assert "#/?sort=omitted&pin=an-sdk%401.0%2Fexample" == page.evaluate("location.hash")


def test_what_is_shown_can_be_downloaded(opened: Opening, tmp_path: Path) -> None:
    with opened("#/?q=m-2", accept_downloads=True) as page:
        for name, read in (("CSV", _csv), ("JSON", _json)):
            with page.expect_download() as download:
                page.get_by_role("button", name=f"Download as {name}").click()
            path = tmp_path / name
            download.value.save_as(path)
            (row,) = read(path.read_text("utf-8"))
            assert ("example:m-2", "chat", "400", "breaks") == tuple(
                [row[key] for key in ("subject", "wire", "omitted", "omitted: means")]
            )


def _csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _json(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(text)
    return found


def test_the_page_of_a_subject_has_its_answers_requests_and_fixes(opened: Opening) -> None:
    with opened("#/of/an-sdk%401.0%2Fexample") as page:
        shown = page.locator("#other")
        expect(shown).to_contain_text("Does it send the reasoning back")
        expect(shown).to_contain_text('"reasoning_content":"The tool has to be called for Paris."')
        shown.locator("details.failed").first.locator("summary").click()
        for text in ("To fix it", "Keep the reasoning of each reply", "What was sent, at /1/request/messages/1"):
            expect(shown).to_contain_text(text)
        expect(shown).to_contain_text("conformance adapter run an-sdk@1.0 --provider example --scenario agent-session")
    with opened("#/of/example") as page:
        expect(page.locator("#other")).to_contain_text("SDKs tested on it")
        expect(page.locator("#other")).to_contain_text("✗ loses (1): an-sdk")
        expect(page.locator("#other")).not_to_contain_text("undefined")
    with opened("#/of/nobody") as page:
        expect(page.locator("#other")).to_contain_text("There is no provider or SDK named “nobody”.")


def test_an_address_restores_the_place(opened: Opening) -> None:
    with opened(viewport={"width": 360, "height": 300}) as page:
        page.evaluate("scrollTo(0, 320)")
        expect(page).to_have_url(re.compile("at="))
        address = page.evaluate("location.hash")
    with opened(address, viewport={"width": 360, "height": 300}) as page:
        assert 100 < page.evaluate("scrollY") < 500


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.exhaustive)])
def test_axe_finds_no_violation(opened: Opening, scheme: str) -> None:
    with opened(color_scheme=scheme) as page:
        for address in VIEWS:
            move(page, address)
            page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
            assert (address, []) == (address, _violations(page))


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_on_the_published_page(opened: Opening, published: Path, scheme: str) -> None:
    with opened("#/?q=deepseek", published, color_scheme=scheme, viewport=PHONE) as page:
        assert [] == _violations(page)


def _violations(page: Page) -> list[tuple[str, str]]:
    page.evaluate(Path(AXE_FILE_PATH).read_text("utf-8"))
    found = page.evaluate(AXE)["violations"]
    return [(each["id"], node["html"]) for each in found for node in each["nodes"]]


def test_an_sdk_says_since_which_release_it_loses_reasoning(opened: Opening, tmp_path: Path) -> None:
    grades = {"0.8": "keeps", "0.9": "fails", "1.0": "keeps"}
    spans = [{"since": "0.9", "before": "0.8", "fixed": "1.0"}]
    days = {"0.8": "2026-05-01", "0.9": "2026-06-01", "1.0": "2026-07-01"}
    releases = tuple([{"version": each, "date": day, "skipped": ""} for each, day in days.items()])
    rules = ({"rule": RESENT, "grades": grades, "spans": spans},)
    kept = Timeline("an-sdk", "an-sdk", "example", "2026-11-28", (), releases, rules)
    made = table(replace(inputs(tmp_path), timelines=(kept,)))
    text = "broken since 0.9 (2026-06-01), kept in 0.8, fixed in 1.0 (2026-07-01) or earlier"
    with opened("#/?q=which%20releases%20lose%20reasoning%20at%20example", path=write(tmp_path, made)) as page:
        expect(page.locator("#answer .release")).to_have_text(f"an-sdk releases: reasoning {text}.")
        move(page, "#/cell/an-sdk%401.0%2Fexample/reasoning%2Fpresent-on-tool-turns")
        shown = page.get_by_role("dialog")
        for line in (f"{text[0].upper()}{text[1:]}.", "0.9 (2026-06-01): breaks it", "1.0 (2026-07-01): keeps it"):
            expect(shown).to_contain_text(line)


def test_a_claim_has_its_history(opened: Opening) -> None:
    with opened("#/cell/example/claims%2Freasoning.omitted-on-tool-turn") as page:
        expect(page.get_by_role("dialog")).to_contain_text("History")
        expect(page.get_by_role("dialog").locator(".history").first).to_contain_text("refused with 400")
