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


class Opening(Protocol):
    """Opens a page in a new window; it must log nothing and request nothing but itself."""

    def __call__(self, address: str = "", path: Path | None = None, **window: Any) -> AbstractContextManager[Page]: ...


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
