"""The page of gateways: what each cell says, its bodies, hostile texts, and a click in a real Chromium."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser, expect

from conformance.reporting import gateway_cells
from conformance.reporting.renderers import gateways_html
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.record import RunRecord
from conformance.results.runs import Case, Results, SentRequest

pytest_plugins = ["tests.html_windows"]

ATTACK = "</script><img src=x onerror=alert(1)>\u202e"
TOOLS = "gateway/tools-kept"
IDS = "gateway/ids-mapped"


def _call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "get", "arguments": "{}"}}


def _chat(*calls: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": "", "tool_calls": list(calls)}
    return {"id": "c", "object": "chat.completion", "choices": [{"message": message, "finish_reason": "tool_calls"}]}


def results(front_id: str = "call_1", note: str = "") -> Results:
    """Return results with a lost, a kept and a refused fact, whose bodies hold what would attack a page."""
    asked = {"model": "m", "messages": [{"role": "user", "content": ATTACK}]}
    bodies = (
        SentRequest(0, "front/request 200", asked),
        SentRequest(0, "front/response 200", _chat(_call(front_id))),
        SentRequest(0, "back/request 200", asked),
        SentRequest(0, "back/response 200", _chat(_call("call_1"))),
    )
    text = f"expected {ATTACK}; after it: /0/back/request"
    lost = Outcome(TOOLS, Status.FAILED, Level.MUST, 1, (Finding("/0/front/request/tools/0", text, Level.MUST),))
    kept = Outcome(IDS, Status.PASSED, Level.MUST, 1)
    untested = Outcome("gateway/user-texts-kept", Status.UNTESTED, Level.MUST, reason="refused")
    cases = (
        Case("one", "plain", Evidence.SIMULATED, (lost, kept), requests=bodies),
        Case("single/top-p", "plain", Evidence.SIMULATED, (untested,), note=note),
    )
    run = RunRecord("1", "2026-11-28", "chat")
    return Results("mine@1.0:chat", "m", cases, "deepseek", run=run)


def held(page: str) -> Mapping[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    value: Mapping[str, Any] = orjson.loads(found)
    return value


def test_a_cell_says_lost_kept_mapped_refused_or_nothing() -> None:
    found = gateway_cells.cells(results(note="1 of the client's requests did not reach the provider (HTTP 400)"))
    assert (found[TOOLS].word, found[TOOLS].case) == ("lost", "one.plain")
    assert (found[IDS].word, found["gateway/top-p-kept"].word) == ("kept", "refused")
    assert found["gateway/calls-kept"].word == "–"
    assert gateway_cells.cells(results("toolu_1"))[IDS].word == "mapped"
    assert gateway_cells.cells(results())["gateway/top-p-kept"].word == "–"


def test_each_cell_has_its_four_bodies() -> None:
    page = gateways_html.render([results()], issues={"mine@1.0": {TOOLS: "https://example.com/1"}})
    data = held(page)
    cell = data["cells"][f"0/0/{TOOLS}"]
    assert (cell["before"], cell["after"]) == ("/0/front/request/tools/0", "/0/back/request")
    assert (cell["cases"], cell["issue"]) == (["one.plain"], "https://example.com/1")
    assert [name for name, _ in cell["bodies"]] == [
        "front/request", "back/request", "back/response", "front/response",
    ]  # fmt: skip
    # Equal bodies are held once.
    assert (cell["bodies"][0][1], len(data["bodies"])) == (cell["bodies"][1][1], 2)
    assert [name for name, _ in data["cells"][f"0/0/{IDS}"]["bodies"]] == [name for name, _ in cell["bodies"]]


def test_texts_from_the_wire_stay_texts() -> None:
    page = gateways_html.render([replace(results(), subject=f"{ATTACK}@1:chat")], [("x", ATTACK)])
    assert "<img" not in page
    assert "\u202e" not in page
    assert "default-src &#39;none&#39;" in page
    assert "http:" not in page.replace("http-equiv", "")


@pytest.mark.slow
def test_a_click_shows_the_bodies(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "gateways.html").write_text(gateways_html.render([results()]))
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tmp_path / "gateways.html").as_uri())
    page.get_by_role("button", name="lost").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("dialog pre")).to_have_count(4)
    expect(page.locator("#shown-finding")).to_contain_text("/0/front/request/tools/0")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert errors == []
    page.close()
