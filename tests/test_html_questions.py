"""The questions that a reader with a phone brings, each answered on the screen after one search or one tap."""

import gzip
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from conformance import profiles
from conformance.reporting.answers.changes import changes, newest_day
from conformance.reporting.answers.providers import provider_answers
from conformance.reporting.matrix.table import load_inputs
from tests.html_browser import PHONE, Opening

pytest_plugins = ["tests.html_windows"]
pytestmark = pytest.mark.slow

LARGEST: Final = 400_000
"""How many bytes the page may have, compressed."""

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


def seen(page: Page) -> str:
    text: str = page.evaluate(VISIBLE)
    return text


def row(page: Page, subject: str) -> str:
    """Return the row of a subject, which must be in the viewport as a whole."""
    found = page.locator(f"tr[data-subject='{subject}']")
    expect(found).to_be_in_viewport(ratio=1)
    return " ".join((found.text_content() or "").split())


def searched(page: Page, words: str) -> None:
    page.get_by_role("searchbox").fill(words)
    expect(page.locator("#count")).not_to_be_empty()


def tapped(page: Page, question: str) -> None:
    page.get_by_role("link", name=question, exact=True).tap()
    expect(page.locator("#asks")).not_to_be_visible()


def test_which_providers_reject_omitted_reasoning_and_in_which_turns(opened: Opening, published: Path) -> None:
    with opened(path=published, viewport=PHONE, has_touch=True) as page:
        tapped(page, "Rejects omitted reasoning")
        text = seen(page)
        rejecting = [each.subject for each in provider_answers(load_inputs()) if each.answers[1].value == "400"]
        assert (True, []) == ("deepseek" in rejecting, [name for name in rejecting if name not in text])
        assert "400, every tool turn (2): deepseek, mimo" in text


def test_which_field_vllm_uses(opened: Opening, published: Path) -> None:
    with opened(path=published, viewport=PHONE) as page:
        searched(page, "vllm")
        assert "reasoning: send back reasoning, reasoning_content" in row(page, "vllm").replace(
            "!beware: ", ""
        ).replace("reasoningsend", "reasoning: send")


def test_which_sdks_lose_reasoning_on_deepseek(opened: Opening, published: Path) -> None:
    with opened(path=published, viewport=PHONE) as page:
        searched(page, "deepseek")
        text = seen(page)
        lost = text.partition("✗ loses (")[2].partition("✓ keeps (")[0]
        assert [] == [name for name in ("langchain-openai", "crewai", "semantic-kernel", "strands") if name not in lost]
        assert "pydantic-ai" in text.partition("✓ keeps (")[2]


def test_which_hosts_repeat_ids(opened: Opening, published: Path) -> None:
    with opened(path=published, viewport=PHONE, has_touch=True) as page:
        tapped(page, "Repeats ids")
        repeating = seen(page).partition("restart on some models")[2].partition("works:")[0]
        assert [] == [name for name in ("fireworks", "groq", "bedrock_openai_compat", "xai") if name not in repeating]


@pytest.mark.parametrize(("name", "answer"), [("vllm", "any order"), ("mistral", "keep call order")])
def test_whether_the_order_of_results_is_important(opened: Opening, published: Path, name: str, answer: str) -> None:
    with opened(path=published, viewport=PHONE) as page:
        searched(page, name)
        assert answer in row(page, name)


def test_what_changed_this_month(opened: Opening, published: Path) -> None:
    with opened(path=published, viewport=PHONE, has_touch=True) as page:
        tapped(page, "What changed")
        text = seen(page)
        known = {name: profiles.load(name) for name in profiles.names()}
        month = newest_day(known)[:7]
        current = {each.provider for each in changes(known) if each.day.startswith(month)}
        assert (True, []) == ("November 2026" in text, [name for name in current if name not in text])


def test_whether_a_cell_can_be_trusted(opened: Opening, published: Path) -> None:
    with opened(path=published, viewport=PHONE, has_touch=True) as page:
        searched(page, "deepseek")
        shown = row(page, "deepseek")
        assert ("20 seen · Nov 22" in shown, "docs · Nov 22" in shown) == (True, True)
        page.get_by_role("button", name="Clear").tap()
        tapped(page, "Can I trust it?")
        text = seen(page)
        for words in ("seen in recordings of the real endpoint", "documents, issues or source code say so"):
            assert words in text


def test_a_search_finds_rules_probes_and_claims_too(opened: Opening, published: Path) -> None:
    with opened("#/?q=parallel", published) as page:
        for noun in ("rules", "probes", "claims"):
            expect(page.locator("#answer a", has_text=noun).first).to_be_visible()


def test_the_first_screen_has_the_search_the_questions_and_values(opened: Opening, published: Path) -> None:
    with opened(path=published) as page:
        for width in (360, 768, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            for found in (
                page.get_by_role("searchbox"),
                page.locator("#asks"),
                page.locator("#providers tbody tr").first,
            ):
                expect(found).to_be_in_viewport(ratio=1)
            assert "400" in seen(page)


def test_the_published_page_is_not_too_large(published: Path) -> None:
    assert len(gzip.compress(published.read_bytes(), 9)) <= LARGEST
