"""Families of models: what names belong together, who serves them, and that the page finds what the resolver finds."""

from typing import Any

import pytest

from conformance import profiles
from conformance.profiles import naming
from conformance.reporting.answers.families import ModelFamily, families, family_of
from conformance.reporting.answers.providers import model_answers
from tests.loops import every


@every(
    ("model", "family"),
    [
        ("moonshotai/kimi-k2-0905", "kimi-k2"),
        ("moonshotai/Kimi-K2-Instruct", "kimi-k2"),
        ("accounts/fireworks/models/kimi-k2p5", "kimi-k2.5"),
        ("deepseek-ai/DeepSeek-V4.1-Flash-1017", "deepseek-v4.1"),
        ("deepseek-v4-1-flash", "deepseek-v4.1"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4.5"),
        ("databricks-claude-opus-5-5", "claude-opus-5.5"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("gpt-oss:120b", "gpt-oss"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss"),
        ("gpt-5.1-2025-11-13", "gpt-5.1"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("qwen-3-32b", "qwen-3"),
        ("Qwen/Qwen3-235B-A22B", "qwen3"),
        ("qwen/qwen3.8-27b", "qwen3.8"),
        ("zai-org/GLM-4.6:cerebras", "glm-4.6"),
        ("zai-glm-5-3", "glm-5.3"),
        ("mistral-medium-2604", "mistral-medium"),
        ("grok-4-0709", "grok-4"),
        ("o3-pro", "o3"),
        ("kimi*", ""),
        ("deepseek-ai/*", ""),
    ],
)
def test_a_model_is_of_a_family(model: str, family: str) -> None:
    assert family == family_of(model)


@pytest.fixture(scope="module")
def known() -> dict[str, ModelFamily]:
    loaded = {name: profiles.load(name) for name in ("moonshot", "openrouter", "groq", "fireworks", "zai", "novita")}
    return {each.name: each for each in families(loaded)}


def test_a_family_has_a_title_a_vendor_and_the_hosts_that_the_resolver_names(known: dict[str, ModelFamily]) -> None:
    kimi = known["kimi-k2"]
    assert ("Kimi K2", "moonshot") == (kimi.title, kimi.vendor)
    hosts = {each.profile for each in kimi.served}
    assert {"moonshot", "openrouter", "groq", "novita"} <= hosts
    assert {host for host in naming.serving("kimi-k2-instruct") if host in ("groq", "novita")} <= hosts
    assert "GLM 5.3" == known["glm-5.3"].title


def test_hosts_keep_their_own_names_of_models(known: dict[str, ModelFamily]) -> None:
    models: dict[str, tuple[str, ...]] = {each.profile: each.models for each in known["kimi-k2"].served}
    assert ("moonshotai/kimi-k2-instruct",) == models["groq"]
    assert "moonshotai/kimi-k2-thinking" in models["openrouter"]


def test_the_answers_of_a_model_are_those_of_its_own_claims() -> None:
    profile = profiles.load("groq")
    general, kimi = (
        [each.value for each in model_answers(profile, {}, model)]
        for model in (profile.model, "moonshotai/kimi-k2-instruct")
    )
    claims: Any = profile.at("moonshotai/kimi-k2-instruct")
    assert (claims["reasoning.response-field"], False) == (kimi[0], claims["ids.unique-in-conversation"])
    assert ("reasoning", "unique", "restart") == (general[0], general[2], kimi[2])
