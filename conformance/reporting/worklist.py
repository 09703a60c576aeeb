"""The core facts that stay unknown of famous models: what was searched, and which request would settle each."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from conformance import profiles, scenarios
from conformance.core_facts import DEFINITIONS
from conformance.profiles import UNKNOWN, UPSTREAM, Profile

FAMOUS: Final[tuple[tuple[str, str, str], ...]] = (
    ("moonshot", "chat", "kimi-k3"),
    ("anthropic", "messages", "claude-opus-5-5"),
    ("anthropic", "messages", "claude-sonnet-5-5"),
    ("anthropic", "messages", "claude-haiku-5-5"),
    ("anthropic", "messages", "claude-fable-5-1"),
    ("anthropic", "messages", "claude-mythos-5-1"),
    ("openrouter", "chat", "anthropic/claude-opus-5.5"),
    ("openrouter", "chat", "anthropic/claude-sonnet-5.5"),
    ("openrouter", "chat", "anthropic/claude-haiku-5.5"),
    ("openrouter", "chat", "deepseek/deepseek-v4.1-flash"),
    ("openrouter", "chat", "deepseek/deepseek-v4-pro"),
    ("openrouter", "chat", "google/gemini-3.8-flash"),
    ("openrouter", "chat", "google/gemini-3.7-flash"),
    ("openrouter", "chat", "google/gemini-4-argon"),
    ("openrouter", "chat", "minimax/minimax-m3.1-flash"),
    ("openrouter", "chat", "mistralai/mistral-large-4-0"),
    ("openrouter", "chat", "moonshotai/kimi-k3"),
    ("openrouter", "chat", "moonshotai/kimi-k2.7-code"),
    ("openrouter", "chat", "openai/gpt-5.6"),
    ("openrouter", "chat", "openai/gpt-6-sol"),
    ("openrouter", "chat", "openai/gpt-oss-120b"),
    ("openrouter", "chat", "qwen/qwen3.8-max"),
    ("openrouter", "chat", "stepfun/step-3.7-flash"),
    ("openrouter", "chat", "x-ai/grok-4.7"),
    ("openrouter", "chat", "x-ai/grok-build"),
    ("openrouter", "chat", "z-ai/glm-5.3"),
)
"""Provider, wire and model: Kimi K3, Claude 5.x, and twenty models of OpenRouter that its profile tells apart."""


class OpenQuestion(NamedTuple):
    """A claim of a core fact that is unknown for a model: when it was searched, and the request that settles it.

    `depends`: the provider passes it on to whoever replies. `scenario` and `request` are empty where no probe of the
    suite asks for the claim alone: any reply shows it then.
    """

    provider: str
    model: str
    claim: str
    searched: str
    depends: bool
    scenario: str
    request: str


def open_questions() -> Iterator[OpenQuestion]:
    """Yield what is not known of the famous models, in their order."""
    settling = _probes()
    for name, wire, model in FAMOUS:
        profile = profiles.load(name).on(wire)
        for claim in _core_claims():
            if _is_open(profile, model, claim):
                scenario, request = settling.get(claim, ("", ""))
                known = profile.claim(claim, model)
                depends = known is not None and known.value == UPSTREAM
                searched = _searched(profile, model, claim)
                yield OpenQuestion(profile.name, model, claim, searched, depends, scenario, request)


def _core_claims() -> tuple[str, ...]:
    return tuple(dict.fromkeys([claim for fact in DEFINITIONS for claim in fact.claims]))


def _is_open(profile: Profile, model: str, claim: str) -> bool:
    claims = profile.at(model)
    if claims.get(claim) != UNKNOWN:
        return False
    ruled_out = [fact.ruled_out_by for fact in DEFINITIONS if claim in fact.claims]
    return not any(claims.get(name) == value for facts in ruled_out for name, value in facts.items())


def _searched(profile: Profile, model: str, claim: str) -> str:
    """Return the last day on which somebody looked for the claim."""
    found = profile.claim(claim, model)
    return max([source.searched or source.read for source in found.source], default="") if found else ""


def _probes() -> dict[str, tuple[str, str]]:
    """Return by claim the first probe that asks for it alone: its scenario, and what its request does, in words."""
    found: dict[str, tuple[str, str]] = {}
    for name in scenarios.names():
        for probe in scenarios.load(name).probes:
            if len(probe.claims) == 1:
                found.setdefault(probe.claims[0], (name, probe.title))
    return found
