"""The documentation as a site: every page is in the navigation, and the generated reference is complete."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from reference_pages import pages

import conformance
from conformance import profiles, rules, scenarios
from conformance.adapters import loop
from conformance.cli import _registry
from conformance.suite.plugin_options import OPTIONS
from tests.checking import ROOT
from tests.loops import every

DOCS = ROOT / "docs"
SETTINGS = (ROOT / "mkdocs.yml").read_text("utf-8")
# Its other parts have tags of Python objects, which a safe loader rejects.
NAVIGATION: Any = yaml.safe_load(SETTINGS[SETTINGS.index("\nnav:") :])["nav"]
NAMES: dict[str, Any] = {
    "api": [name for name in conformance.__all__ if not name.startswith("__")],
    "claims": profiles.vocabulary(),
    "commands": [f"conformance {' '.join(words)}\n" for words in _registry.commands()],
    "pytest": OPTIONS,
    "rules": [*(rule.id for rule in rules.of_traffic()), *(fact.id for fact in loop.load())],
    "scenarios": scenarios.names(),
    "schemas": [path.name for path in (ROOT / "schemas").rglob("*.json")],
}
"""What each page of the reference names."""
SITE = "https://wire-conformance.github.io/wire-conformance/"


def listed(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [path for each in (entry.values() if isinstance(entry, dict) else entry) for path in listed(each)]


@pytest.fixture(scope="module")
def generated() -> Mapping[str, str]:
    return pages()


def test_every_page_is_in_the_navigation_of_mkdocs_yml_once(generated: Mapping[str, str]) -> None:
    written = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted([*written, *generated]) == sorted(listed(NAVIGATION))


@every(("page", "names"), NAMES.items(), ids=str)
def test_the_reference_names_everything_that_there_is(
    page: str, names: list[str], generated: Mapping[str, str]
) -> None:
    text = generated[f"reference/{page}.md"]
    assert [] == [name for name in names if name not in text]


def test_a_generated_page_links_to_pages_that_exist(generated: Mapping[str, str]) -> None:
    known = {DOCS / page for page in generated}
    for page, text in generated.items():
        links = re.findall(r"\]\((?!https?:|#|<)([^)#]+)", text)
        places = {link: ((DOCS / page).parent / link).resolve() for link in links}
        assert [] == [(page, link) for link, place in places.items() if place not in known and not place.exists()]


def test_the_page_of_the_commands_has_the_groups_and_the_values_of_options(generated: Mapping[str, str]) -> None:
    page = generated["reference/commands.md"]
    assert ["Traffic", "Clients", "Providers", "Results"] == re.findall("^## (.+)$", page, re.MULTILINE)
    assert "one of console, github, json, jsonl, junit, sarif (default: console)" in page
    assert " object at 0x" not in page


def test_the_readme_is_short_and_its_links_to_the_site_lead_to_pages() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 150
    linked = re.findall(rf"\({SITE}([^)#]+)\)", readme)
    assert linked
    assert [] == [each for each in linked if f"{each.rstrip('/')}.md" not in listed(NAVIGATION)]


@every(
    ("provider", "model", "claim", "value"),
    [
        ("deepseek", "", "reasoning.response-field", "reasoning_content"),
        ("deepseek", "", "reasoning.omitted-on-tool-turn", 400),
        ("groq", "", "reasoning.response-field", "reasoning"),
        ("groq", "", "reasoning.input.reasoning_content", 400),
        ("groq", "moonshotai/kimi-k2-instruct", "ids.unique-in-conversation", False),
        ("llamacpp", "", "reasoning.response-field", "reasoning_content"),
        ("minimax", "", "reasoning.response-field", "think-tags"),
        ("mistral", "", "reasoning.response-field", "thinking-parts"),
        ("mistral", "", "reasoning.input.reasoning_content", 422),
        ("mistral", "", "ids.format", "[A-Za-z0-9]{9}"),
        ("ollama", "", "reasoning.response-field", "reasoning"),
        ("openrouter", "", "reasoning.response-field", ["reasoning", "reasoning_details"]),
        ("sglang", "", "reasoning.response-field", "reasoning_content"),
        ("vllm", "", "reasoning.response-field", "reasoning"),
        ("vllm", "", "reasoning.omitted-on-tool-turn", "accepted"),
    ],
)
def test_what_the_pages_say_about_a_provider_is_what_its_profile_claims(
    provider: str, model: str, claim: str, value: Any
) -> None:
    profile = profiles.load(provider)
    found = profile.at(model or profile.model)[claim]
    assert value == (found["status"] if isinstance(found, dict) else found)
