"""Fixtures that open pages of the matrix in a real Chromium."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from conformance.reporting.matrix.table import Table, load_inputs, table
from tests.checking import ROOT
from tests.html_browser import Opening
from tests.html_pages import example, write

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--in-process-gpu"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for the session: while Playwright is open, an event loop runs, and other tests cannot run theirs.
    chromium = shutil.which("chromium")
    if chromium is None:
        message = "NOT RUN: there is no chromium, so the page was not opened in a browser"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    # Root has no sandbox in Chromium; what is opened is a file of the tests' own, and nothing is drawn on a screen.
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS) as launched,
    ):
        yield launched


@pytest.fixture(name="made", scope="session")
def example_table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return example(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def committed() -> Table:
    """Return the table of the committed results."""
    return table(load_inputs())


@pytest.fixture(scope="session")
def published() -> Path:
    """Return the committed page; `conformance report --check` compares it with the one that the results give."""
    return ROOT / "reports" / "matrix.html"


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
            page.set_default_timeout(30_000)
            page.on("console", lambda message: logged.append(message.text))
            page.on("pageerror", lambda error: logged.append(str(error)))
            page.on("request", lambda request: requested.append(request.url.partition("#")[0]))
            page.goto(file + address)
            if window.get("java_script_enabled", True) and page.locator("script[type=module]").count():
                page.wait_for_selector("body[data-view]")
            yield page
            assert ([], [file]) == (logged, requested)

    return opening
