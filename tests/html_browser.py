"""What tests ask of a page of the matrix that is open in a real Chromium."""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Protocol

from playwright.sync_api import Locator, Page, expect

from conformance.reporting.matrix import PROBES
from conformance.reporting.matrix.table import CLAIMS, Table, TableCell

ADAPTER, PROVIDER, FURTHER = range(3)
"""The numbers of the example's subjects."""
PHONE: Final = {"width": 360, "height": 800}


# The text that a reader sees: of elements in the viewport that nothing hides, without what only a screen reader reads.
VISIBLE: Final = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest(".unseen, script, style") || !holder.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { top, bottom, left, right } = range.getBoundingClientRect();
    if (top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth) texts.push(node.data);
  }
  return texts.join("").replace(/\\s+/g, " ");
}"""

# Texts in letters of less than 14 px, of elements that are shown.
SMALL: Final = """() => [...document.querySelectorAll("body *")].filter((each) => {
  const hasText = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!hasText || !each.checkVisibility() || each.closest(".unseen, script, style")) return false;
  return parseFloat(getComputedStyle(each).fontSize) < 14;
}).map((each) => `${each.tagName}.${each.className} ${each.textContent.trim().slice(0, 30)}`).slice(0, 5)"""

# Elements whose text is wider than they are, or that stand beyond the page; what scrolls by itself is left out.
CUT: Final = """() => [...document.querySelectorAll("main *, header *")].filter((each) => {
  if (!each.checkVisibility() || each.closest(".unseen, .scroll, select, input, pre")) return false;
  const { left, right, width } = each.getBoundingClientRect();
  const isWide = each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1;
  return width > 0 && (left < -1 || right > innerWidth + 1 || isWide);
}).map((each) => `${each.tagName}.${each.className} ${each.textContent.trim().slice(0, 30)}`).slice(0, 5)"""


class Opening(Protocol):
    """Opens a page in a new window; it must log nothing and request nothing but itself."""

    def __call__(self, address: str = "", path: Path | None = None, **window: Any) -> AbstractContextManager[Page]: ...


def cut(page: Page) -> list[str]:
    """Return what is cut off or reaches beyond the page, `page` if it scrolls sideways."""
    found: list[str] = page.evaluate(CUT)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*(["page"] if wide else []), *found]


def shows(page: Page, count: int) -> None:
    """Wait until the page shows this number of cells."""
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{count} cells?: "))


def move(page: Page, address: str) -> None:
    """Go to another address of an open page, as a reader who follows a link does, and wait until it is shown."""
    page.evaluate("(address) => (location.hash = address)", address)
    expect(page).to_have_url(re.compile(f"{re.escape(address)}$"))
    page.evaluate("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")


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
    rows = page.evaluate("JSON.parse(document.getElementById('index').textContent).rows.map((row) => row.name)")
    return [subject, rows[row]]


def entered(made: Table, subject: int, row: str) -> TableCell:
    (found,) = [each for each in made.cells if (each.subject, each.row) == (made.subjects[subject].name, row)]
    return found


def of_view(made: Table, view: str) -> list[TableCell]:
    """Return the cells of a view: those of claims, of probes, or of all rules."""
    return [each for each in made.cells if view_of(each) == view]


def view_of(cell: TableCell) -> str:
    family = cell.row.partition("/")[0]
    return family if family in (PROBES, CLAIMS) else "rules"
