"""Checks of what real clients sent agree with findings made by other means; each difference is explained."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import rules
from conformance.adapters import loop
from conformance.results import Level, Outcome
from conformance.wire.views import Side
from tests.captured import failed, records, verdict
from tests.loops import every

Found = Mapping[str, Outcome]
pytestmark = pytest.mark.slow

CLIENTS = {rule.id for rule in rules.load() if rule.on.side is Side.CLIENT} | {fact.id for fact in loop.load()}
FLATTENED = "transcript/reply-resent"
"""Broken if a turn with calls is rewritten as text; nothing else can be checked in such a turn."""


def breaks(*rules: str) -> Callable[[Found], bool]:
    return lambda found: not found.keys().isdisjoint(rules)


def says(words: str, *levels: Level) -> Callable[[Found], bool]:
    return lambda found: any(
        words in each.message and each.level in levels for outcome in found.values() for each in outcome.findings
    )


def either(*checks: Callable[[Found], bool]) -> Callable[[Found], bool]:
    return lambda found: any(check(found) for check in checks)


def loses_reasoning(found: Found) -> bool:
    return any(rule.startswith("reasoning/") and outcome.level is Level.MUST for rule, outcome in found.items())


MISPAIRED = breaks(
    "transcript/one-result-per-call",
    "transcript/calls-answered",
    "transcript/results-in-call-order",
    "transcript/results-follow-calls",
    "transcript/result-answers-call",
    "loop/result-matches-call",
)
LOST = breaks("loop/every-prompt-answered", "transcript/history-append-only", "transcript/no-user-message-lost")
CHANGED = says("expected the arguments", Level.MUST)
WORDS = says("expected content", Level.MUST, Level.SHOULD)

FAILS: Mapping[str, Callable[[Found], bool]] = {
    "R1_reasoning_in_turn": loses_reasoning,
    "R1h_reasoning_later": loses_reasoning,
    "R1_gemini_thought_signature": loses_reasoning,
    "R1_reasoning_details_in_turn": loses_reasoning,
    "R1_mistral_thinking_chunk": loses_reasoning,
    "R3_tool_results_order": either(MISPAIRED, LOST),
    "R4_pairing": MISPAIRED,
    "R5_arguments": either(CHANGED, MISPAIRED, LOST, breaks("transcript/reply-resent-unchanged")),
    "R6_extra_fields": breaks("request/no-unknown-fields", "request/no-local-only-fields"),
    "R7_stream_reassembly": either(
        MISPAIRED, LOST, loses_reasoning, breaks("transcript/reply-resent-unchanged", "request/no-unknown-fields")
    ),
    "R8_content": either(WORDS, loses_reasoning, breaks("shape/message")),
    "C0_loop_completes": LOST,
    "C1_history_complete": either(LOST, MISPAIRED, breaks("transcript/reply-resent-unchanged")),
}
"""What is found here if a verdict of the captures is a failure, by the verdict."""

NEVER_SENT = {"reasoning/resent-on-tool-turns", "reasoning/details-unchanged", "reasoning/verbatim"}
EXPLAINED: Mapping[str, set[str]] = {
    # The captures ignore reasoning fields that the adapter's own provider never sends; without a provider they count.
    "aisdk-compat": NEVER_SENT,
    "langchain-deepseek": NEVER_SENT,
    "langchain-openrouter": NEVER_SENT,
    "litellm-deepseek": NEVER_SENT,
    "litellm-openrouter": NEVER_SENT,
    "openai-sdk-obj": NEVER_SENT,
    "pydantic-ai-deepseek": NEVER_SENT,
    "pydantic-ai-moonshot": NEVER_SENT,
    "pydantic-ai-openai": NEVER_SENT,
    "pydantic-ai-openrouter": NEVER_SENT,
    # An empty list of content parts, which the captures treat as a Mistral notation.
    "pydantic-ai-mistral": {"shape/message"},
}
"""Rules that break a MUST here but not in the captures, by adapter."""


def captures(shared: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in sorted((shared / "captures").glob("*.jsonl.gz")):
        for record in records(path):
            yield path.name.removesuffix(".jsonl.gz"), record


@pytest.fixture(scope="module")
def checked(shared: Path) -> list[tuple[str, Mapping[str, Any], Found]]:
    return [(name, record, failed(record)) for name, record in captures(shared)]


@every("rule", FAILS)
def test_a_failure_of_the_captures_fails_here(rule: str, checked: list[tuple[str, Mapping[str, Any], Found]]) -> None:
    missed = {(name, record["variant"]) for name, record, found in checked
              if verdict(record, rule) == "fail" and FLATTENED not in found and not FAILS[rule](found)}  # fmt: skip
    assert 0 < sum(verdict(record, rule) == "fail" for _, record, _ in checked)
    assert set() == missed


def test_captures_without_a_failure_break_nothing_here(checked: list[tuple[str, Mapping[str, Any], Found]]) -> None:
    clean = [each for each in checked if not any(found["verdict"] == "fail" for found in each[1]["verdicts"].values())]
    assert len(clean) > len(checked) / 2
    unexplained = {
        (name, record["variant"], rule)
        for name, record, found in clean
        for rule, outcome in found.items()
        if outcome.level is Level.MUST
        and rule in CLIENTS
        and rule not in EXPLAINED.get(record["adapter"], ())
        # The captures do not look for a call that is left out because its id was used again.
        and not all("used again" in each.message for each in outcome.findings if each.level is Level.MUST)
    }
    assert set() == unexplained


@pytest.mark.parametrize(("captured", "level"), [("warn", Level.SHOULD), ("pass", None)])
def test_rewritten_arguments_warn_and_verbatim_ones_do_not(
    captured: str, level: Level | None, checked: list[tuple[str, Mapping[str, Any], Found]]
) -> None:
    sessions = [found for _, record, found in checked if verdict(record, "R5_arguments") == captured]
    assert len(sessions) > 100
    levels = {
        max((each.level for each in findings), key=lambda each: each.severity) if findings else None
        for found in sessions
        for findings in [
            [each for o in found.values() for each in o.findings if "expected the arguments" in each.message]
        ]
    }
    assert {level} == levels
