"""The judge agrees with what was found, by other means, in what real clients sent; where it does not, it says why."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import rules
from conformance.adapters import loop
from conformance.results import Level, Outcome
from conformance.wire.views import Side
from tests.captured import failed, records, verdict

Found = Mapping[str, Outcome]
CLIENTS = {rule.id for rule in rules.load() if rule.on.side is Side.CLIENT} | {fact.id for fact in loop.load()}
FLATTENED = "transcript/reply-resent"
"""Broken where a turn with calls is told as text; nothing else can be said of such a turn."""


def breaks(*rules: str) -> Callable[[Found], bool]:
    return lambda found: not found.keys().isdisjoint(rules)


def says(words: str, *levels: Level) -> Callable[[Found], bool]:
    return lambda found: any(
        words in each.message and each.level in levels for outcome in found.values() for each in outcome.findings
    )


def either(*told: Callable[[Found], bool]) -> Callable[[Found], bool]:
    return lambda found: any(each(found) for each in told)


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
"""By a verdict of the captures: what is found here where that one fails."""

NEVER_SENT = {"reasoning/resent-on-tool-turns", "reasoning/details-unchanged", "reasoning/verbatim"}
EXPLAINED: Mapping[str, set[str]] = {
    # Reasoning under a name that the adapter's own provider never sends was not judged there; without a provider it is.
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
    # An empty list of content parts, which the captures take for a Mistral notation.
    "pydantic-ai-mistral": {"shape/message"},
}
"""What breaks a MUST here and none there, by adapter."""


def captures(shared: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in sorted((shared / "captures").glob("*.jsonl.gz")):
        for record in records(path):
            yield path.name.removesuffix(".jsonl.gz"), record


@pytest.fixture(scope="module")
def judged(shared: Path) -> list[tuple[str, Mapping[str, Any], Found]]:
    return [(name, record, failed(record)) for name, record in captures(shared)]


@pytest.mark.parametrize("rule", FAILS)
def test_what_fails_there_fails_here(rule: str, judged: list[tuple[str, Mapping[str, Any], Found]]) -> None:
    missed = {(name, record["variant"]) for name, record, found in judged
              if verdict(record, rule) == "fail" and FLATTENED not in found and not FAILS[rule](found)}  # fmt: skip
    assert 0 < sum(verdict(record, rule) == "fail" for _, record, _ in judged)
    assert set() == missed


def test_what_breaks_nothing_there_breaks_nothing_here(judged: list[tuple[str, Mapping[str, Any], Found]]) -> None:
    whole = [each for each in judged if not any(told["verdict"] == "fail" for told in each[1]["verdicts"].values())]
    assert len(whole) > len(judged) / 2
    unexplained = {
        (name, record["variant"], rule)
        for name, record, found in whole
        for rule, outcome in found.items()
        if outcome.level is Level.MUST and rule in CLIENTS and rule not in EXPLAINED.get(record["adapter"], ())
    }
    assert set() == unexplained


@pytest.mark.parametrize(("told", "level"), [("warn", Level.SHOULD), ("pass", None)])
def test_arguments_written_anew_warn_and_verbatim_ones_do_not(
    told: str, level: Level | None, judged: list[tuple[str, Mapping[str, Any], Found]]
) -> None:
    kept = [found for _, record, found in judged if verdict(record, "R5_arguments") == told]
    assert len(kept) > 100
    levels = {
        max((each.level for each in findings), key=lambda each: each.weight) if findings else None
        for found in kept
        for findings in [
            [each for o in found.values() for each in o.findings if "expected the arguments" in each.message]
        ]
    }
    assert {level} == levels
