"""What rules about whole replies take for a repetition, for another model and for a sum, and what they do not."""

from typing import Any

import pytest

from conformance.judge import check
from conformance.results import Level, Status
from conformance.rules import Example
from conformance.wire.exchange import Exchange
from conformance.wire.repeats import ARGUMENTS, Repeat, StreamedText, find_repeat

REPEATS: list[tuple[str, list[str], Repeat | None]] = [
    ("content", ["Oslo", "Oslo has", "Oslo has 9"], Repeat(1, is_whole=False)),
    ("content", ["It ", "is ", "mild ", "It is mild today."], Repeat(3, is_whole=False)),
    ("content", ["It ", "is mild.", "It is mild."], Repeat(2, is_whole=True)),
    ("content", ["It ", "is mild.\n", "It is mild."], Repeat(2, is_whole=True)),
    ("content", ["今天", "今天天气", "今天天气很好。"], Repeat(1, is_whole=False)),
    (ARGUMENTS, ["{", '{"city": "Rome"}'], Repeat(1, is_whole=False)),
    (ARGUMENTS, ['{"city":', '"Rome"}', '{"city":"Rome"}'], Repeat(2, is_whole=True)),
    (ARGUMENTS, ["", '{"city": ', '"Rome"}'], None),
    ("content", ["ha", "ha", "haha", " ha"], None),
    ("content", ["\n", "\n", "\n\n", "The very", " very last"], None),
    ("content", ["1", "12", "3"], None),
    ("content", ["very ", "very good"], None),
    ("content", [], None),
]


def test_a_fragment_repeats_all_before_it_only_if_that_is_no_chance() -> None:
    expected = [repeat for *_, repeat in REPEATS]
    assert expected == [find_repeat(name, fragments) for name, fragments, _ in REPEATS]


def test_a_fragment_that_came_before_has_the_place_at_which_it_comes_again() -> None:
    fragments = ["Hello you.", "Hello you."]
    text = StreamedText((0, "response"), "content", fragments, [{"delta": {"content": each}} for each in fragments])
    assert [(0, "response", 0, "delta", "content"), (0, "response", 1, "delta", "content")] == [
        text.place_of(position) for position in (0, 1)
    ]


MODELS: list[tuple[str, str, Level | None]] = [
    ("gpt-4o", "gpt-4o-2024-08-06", None),
    ("models/gemini-2.0-flash", "gemini-2.0-flash", None),
    ("claude-sonnet-4-0", "claude-sonnet-4-20250514", None),
    ("anthropic/claude-haiku-4.5", "anthropic/claude-4.5-haiku-20251001", None),
    ("deepseek-reasoner", "deepseek-v4-flash", None),
    ("databricks-gpt-5-2", "gpt-5.2-2025-12-11", None),
    ("zai-org/GLM-4.6:cerebras", "zai-glm-4.6", None),
    ("my-deployment", "gpt-4.1-mini-2025-04-14", None),
    ("openrouter/auto", "perplexity/sonar", None),
    ("gpt-4o", "gpt-4o-mini-2024-07-18", Level.SHOULD),
    ("gpt-3.5-turbo", "gpt-4-1106-vision-preview", Level.SHOULD),
    ("openai/gpt-4o-mini-2024-07-18", "google/gemini-2.5-flash-lite", Level.MUST),
]


def test_a_model_is_another_one_if_its_name_says_another_family_version_or_size() -> None:
    found = []
    for asked, given, _ in MODELS:
        example = Example("plain", {"/0/request/model": asked, "/0/response/model": given})
        (outcome,) = check(example.conversation(), rules="response/model-as-requested")
        found.append(outcome.level if outcome.status is Status.FAILED else None)
    assert [level for *_, level in MODELS] == found


def session(counts: list[int]) -> tuple[Exchange, ...]:
    """Return a session of one call a turn, with these counts of prompt tokens."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What is the weather in each of my cities?"}]
    exchanges = []
    for turn, count in enumerate(counts):
        function = {"name": "get_weather", "arguments": f'{{"city": "c{turn}"}}'}
        said = {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{turn}", "function": function}]}
        usage = {"prompt_tokens": count, "completion_tokens": 9, "total_tokens": count + 9}
        body = {"id": f"r{turn}", "choices": [{"index": 0, "message": said}], "usage": usage}
        exchanges.append(Exchange(request={"model": "m", "messages": list(messages)}, response=body, status=200))
        messages += [said, {"role": "tool", "tool_call_id": f"call_{turn}", "content": "18"}]
    return tuple(exchanges)


@pytest.mark.parametrize(
    ("counts", "places"),
    [
        ([200, 430, 690, 980], ["/2/response/usage/prompt_tokens"]),
        ([200, 230, 260, 290], []),
        ([200, 230, 690, 720], []),
        ([200, 430], []),
    ],
)
def test_counts_are_sums_if_they_grow_by_whole_prompts_twice_and_this_is_reported_once(
    counts: list[int], places: list[str]
) -> None:
    (outcome,) = check(session(counts), rules="usage/not-cumulative")
    assert places == [found.at for found in outcome.findings]


def test_an_id_may_come_twice_if_the_same_question_was_asked_twice() -> None:
    first, second, third = session([200, 230, 260])
    (outcome,) = check((first, second, second, third), rules="response/id-unique-in-session")
    assert (Status.PASSED, 3) == (outcome.status, outcome.judged)


def test_an_empty_body_has_no_content_type_that_could_be_wrong() -> None:
    for kind in ("application/json", "text/event-stream", "text/html"):
        exchange = Exchange(
            request={"model": "x", "messages": []}, response="", status=200, headers={"content-type": kind}
        )
        found = {each.rule: each.status for each in check((exchange,))}
        # What was announced as a stream is one without events.
        missing = "stream/not-empty" if kind == "text/event-stream" else "http/body-is-object-or-stream"
        assert Status.FAILED is found[missing]
        assert Status.NOT_APPLICABLE is found.get("http/content-type-matches-body", Status.NOT_APPLICABLE)
