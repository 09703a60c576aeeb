"""The questions that a reader with a phone brings, each answered on the screen after one search or one tap."""

import gzip
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from conformance.profiles import load
from conformance.reporting.answers import Answers
from conformance.reporting.answers.adapters import adapter_answers
from conformance.reporting.answers.changes import changes, newest_day
from conformance.reporting.answers.providers import provider_answers
from conformance.reporting.matrix.table import Table
from conformance.reporting.page.facts import age
from conformance.wire.native import CHAT
from tests.html_browser import PHONE, VISIBLE, Opening

pytest_plugins = ["tests.html_windows"]
pytestmark = pytest.mark.exhaustive

LARGEST: Final = 400_000
"""How many bytes the page may have, compressed."""


@pytest.fixture(scope="module")
def window(opened: Opening, published: Path) -> Iterator[Page]:
    with opened(path=published, viewport=PHONE, has_touch=True) as page:
        yield page


@pytest.fixture
def phone(window: Page) -> Page:
    """Return the published page on a phone, as it is at first."""
    window.evaluate("location.hash = '#/'")
    expect(window.get_by_role("searchbox")).to_have_value("")
    expect(window.locator("#asks")).to_be_in_viewport()
    return window


def seen(page: Page) -> str:
    text: str = page.evaluate(VISIBLE)
    return text


def row(page: Page, subject: str) -> str:
    """Return the row of a subject, of which the name and the first fact must be in the viewport."""
    found = page.locator(f"tr[data-subject='{subject}']")
    for part in ("th", "td:nth-child(2)"):
        expect(found.locator(part)).to_be_in_viewport(ratio=1)
    return " ".join((found.text_content() or "").split())


def searched(page: Page, words: str) -> None:
    page.get_by_role("searchbox").fill(words)
    expect(page.locator("#count")).not_to_be_empty()


def tapped(page: Page, question: str) -> None:
    page.get_by_role("link", name=question, exact=True).tap()
    expect(page.locator("#asks")).not_to_be_visible()


def shown(answers: Answers) -> str:
    """Return the name of a subject as answers list it: `DeepSeek (messages)`."""
    name, _, model = answers.subject.partition(":")
    title = load(name).title.replace(f" ({answers.protocol})", "")
    wire = "" if answers.protocol == CHAT else f" ({answers.protocol})"
    return f"{title}{f' · {model}' if model else ''}{wire}"


def missing(names: Iterable[str], text: str) -> list[str]:
    return [name for name in names if name not in text]


def test_which_providers_reject_omitted_reasoning_and_in_which_turns(phone: Page, committed: Table) -> None:
    tapped(phone, "Rejects omitted reasoning")
    text = seen(phone)
    for turns in ("every tool turn", "current tool turn, earlier ones unknown"):
        facts = [(shown(each), each.answers[1]) for each in provider_answers(committed.inputs)]
        rejecting = [name for name, answer in facts if (answer.value, *answer.notes[:1]) == ("400", turns)]
        listed = text.partition(f"✗ 400, {turns}")[2].partition("✗")[0]
        assert (True, []) == (len(rejecting) > 1, missing(rejecting, listed))


def test_which_field_vllm_uses(phone: Page) -> None:
    searched(phone, "vllm")
    field = phone.locator("tr[data-subject='vllm'] td").first
    assert "reasoning" == field.locator(".v").text_content()
    assert "send back reasoning, reasoning_content" in row(phone, "vllm")


def test_which_sdks_lose_reasoning_on_deepseek(phone: Page, committed: Table) -> None:
    searched(phone, "deepseek")
    phone.locator("#answer summary", has_text="is reasoning sent back?").tap()
    lost, _, kept = seen(phone).partition("✗ loses (")[2].partition("✓ keeps (")
    tested = [each for each in adapter_answers(committed.inputs) if each.subject.endswith("/deepseek")]
    for value, text in (("loses", lost), ("keeps", kept)):
        names = [each.subject.partition("@")[0] for each in tested if each.answers[0].value == value]
        assert (True, []) == (len(names) > 3, missing(names, text))


def test_which_hosts_repeat_ids(phone: Page, committed: Table) -> None:
    tapped(phone, "Repeats ids")
    answers = {shown(each): each.answers[2] for each in provider_answers(committed.inputs)}
    repeating = [name for name, answer in answers.items() if "restart" in " ".join((answer.value, *answer.notes))]
    assert (True, []) == (len(repeating) > 3, missing(repeating, seen(phone)))


@pytest.mark.parametrize("answer", ["any order", "keep call order", "call order required"])
def test_whether_the_order_of_results_is_important(phone: Page, committed: Table, answer: str) -> None:
    facts = [(each.subject, each.answers[3]) for each in provider_answers(committed.inputs)]
    name = next(name for name, order in facts if answer in (order.value, *order.notes) and name.isalpha())
    searched(phone, name)
    assert answer in row(phone, name)


def test_what_changed_this_month(phone: Page, committed: Table) -> None:
    tapped(phone, "What changed")
    known = committed.inputs.profiles
    month = date.fromisoformat(newest_day(known))
    current = {load(each.provider).title for each in changes(known) if each.day.startswith(f"{month:%Y-%m}")}
    assert [] == missing([f"{month:%B %Y}", *current], seen(phone))


def test_whether_a_cell_can_be_trusted(phone: Page, committed: Table) -> None:
    searched(phone, "deepseek")
    shown = row(phone, "deepseek")
    (facts,) = [each.answers for each in provider_answers(committed.inputs) if each.subject == "deepseek"]
    today = newest_day(committed.inputs.profiles)
    assert [] == missing([f"{facts[0].count} seen · last {age(facts[0].seen, today)}", "docs · "], shown)
    phone.get_by_role("button", name="Clear").tap()
    tapped(phone, "Can I trust it?")
    meanings = ("seen in recordings of the real endpoint", "documents, issues or source code say so")
    assert [] == missing(meanings, seen(phone))


def test_a_search_finds_rules_probes_and_claims_too(phone: Page) -> None:
    searched(phone, "parallel")
    for noun in ("rules", "probes", "claims"):
        expect(phone.locator("#answer a", has_text=noun).first).to_be_visible()


def test_the_first_screen_of_a_phone_has_the_core_facts_before_any_script(opened: Opening, published: Path) -> None:
    text = published.read_text("utf-8")
    assert text.rindex("</table>") < text.index("<script")
    with opened(path=published, viewport=PHONE, java_script_enabled=False) as page:
        expect(page.locator("#providers tbody th").first).to_be_in_viewport(ratio=1)
        assert [] == missing(["What providers do", "thought parts", "400", "seen · "], seen(page))


def test_the_first_screen_has_the_search_the_questions_and_values(opened: Opening, published: Path) -> None:
    with opened(path=published) as page:
        for width in (360, 768, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            for shown in ("#q", "#asks", "#providers tbody tr:first-child td:nth-child(3)"):
                expect(page.locator(shown)).to_be_in_viewport(ratio=1)
            assert "400" in seen(page)


def test_the_published_page_is_not_too_large(published: Path) -> None:
    assert len(gzip.compress(published.read_bytes(), 9)) <= LARGEST
