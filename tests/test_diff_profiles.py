"""`conformance provider diff`: sentences about what a client must change, made of the claims of two profiles."""

import json
from typing import Any

import pytest

from conformance import profiles
from conformance.cli import main
from conformance.documents import read_json
from conformance.profiles.difference import Consequence, differences
from conformance.resources import folder
from tests.loops import every

REFUSAL = {"status": 400, "message": "No."}
REFERENCES = {"kinds": ["item_reference"], "refusal": REFUSAL}
MORE_ITEMS = {"kinds": ["custom_tool_call", "item_reference"], "refusal": REFUSAL}

KINDS: list[tuple[str, Any, Any, Consequence | None]] = [
    ("results.missing", "accepted", REFUSAL, Consequence.SEND),
    ("results.missing", "unknown", REFUSAL, Consequence.SEND),
    ("results.missing", None, "damaged", Consequence.SEND),
    ("results.missing", REFUSAL, REFUSAL, None),
    ("results.missing", REFUSAL, {"status": 422}, None),
    ("results.missing", REFUSAL, "accepted", Consequence.FREE),
    ("results.missing", "accepted", "unknown", Consequence.ASK),
    ("results.missing", REFUSAL, "unknown", None),
    ("results.missing", "accepted", "ignored", None),
    ("ids.input-max-length", {"limit": 40, "refusal": REFUSAL}, {"limit": 64, "refusal": REFUSAL}, None),
    ("ids.input-max-length", {"limit": 64, "refusal": REFUSAL}, {"limit": 40, "refusal": REFUSAL}, Consequence.SEND),
    ("responses.unsupported-items", None, REFERENCES, Consequence.SEND),
    ("responses.unsupported-items", REFERENCES, MORE_ITEMS, Consequence.SEND),
    ("responses.unsupported-items", MORE_ITEMS, REFERENCES, None),
    ("responses.unsupported-items", MORE_ITEMS, "unknown", None),
    ("reasoning.response-field", "reasoning", "reasoning_content", Consequence.READ),
    ("reasoning.response-field", "reasoning", "unknown", None),
    ("stream.done", True, None, None),
    ("stream.done", True, False, Consequence.READ),
    ("finish.reasons", ["stop", "length"], ["length"], None),
    ("finish.reasons", ["stop"], ["stop", "length"], Consequence.READ),
    ("tools.choices", ["auto", "none"], ["auto"], Consequence.SEND),
    ("tools.choices", ["auto"], ["auto", "none"], None),
]


@every(("name", "before", "after", "expected"), KINDS)
def test_a_difference_has_a_kind(name: str, before: Any, after: Any, expected: Consequence | None) -> None:
    first, second = ({} if value is None else {name: value} for value in (before, after))
    found = differences(profiles.of(first, "a"), profiles.of(second, "b"))
    assert ([] if expected is None else [(expected, name)]) == [(each.kind, each.claim) for each in found]


def test_a_sentence_says_what_both_do() -> None:
    (found,) = differences(
        profiles.of({"results.missing": "accepted"}, "a"), profiles.of({"results.missing": REFUSAL}, "b")
    )
    meaning = profiles.vocabulary()["results.missing"]
    assert f"{meaning} a accepts it; b rejects it with status 400 (“No.”)." == found.sentence


def test_a_sentence_names_the_kinds_that_are_rejected() -> None:
    claims = {"responses.unsupported-items": MORE_ITEMS}
    (found,) = differences(profiles.of({}, "a"), profiles.of(claims, "b"))
    assert "b rejects it of the kinds custom_tool_call, item_reference with status 400 (“No.”)." in found.sentence


def test_every_kind_of_claim_with_a_refusal_is_one_about_a_deviation() -> None:
    definitions: Any = read_json(folder("schemas") / "files" / "profile.json")
    with_refusal = {name for name, each in definitions["$defs"].items() if "refusal" in each.get("properties", ())}
    assert with_refusal | {"verdict"} == profiles.REFUSING


def test_a_sentence_explains_the_words_of_a_value() -> None:
    claims = [{"reasoning.response-field": each} for each in ("reasoning", ["none"])]
    (found,) = differences(profiles.of(claims[0], "a"), profiles.of(claims[1], "b"))
    assert "a has `reasoning` (a string beside `content`); b has `none` (reasoning text is never" in found.sentence


def test_a_profile_does_not_differ_from_itself() -> None:
    for name in ("deepseek", "mistral"):
        assert () == differences(profiles.load(name), profiles.load(name))


def test_the_move_from_openai_to_deepseek_asks_for_the_reasoning_of_tool_turns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0 == main(["provider", "diff", "openai", "deepseek"])
    out = capsys.readouterr().out
    assert out.startswith("A client of openai must change what it sends for deepseek:\n")
    assert "  reasoning.omitted-on-tool-turn: While the model thinks, an assistant message with tool calls" in out
    assert 0 == main(["provider", "diff", "openai", "deepseek", "--format", "json"])
    rows = json.loads(capsys.readouterr().out)
    assert {"send", "read"} <= {each["kind"] for each in rows}
    members = {"kind", "claim", "before", "after", "sentence", "harm", "instead_of", "send"}
    assert (members, "reasoning.request-field") == (set(rows[0]), rows[0]["claim"])
    assert '    instead of  {"role": "assistant", "tool_calls": […]}\n    send        {"role": "assistant", ' in out
    assert out.endswith("To share it: reports/matrix.html#/compare?pin=openai&pin=deepseek\n")


def test_every_pair_of_some_profiles_can_be_compared() -> None:
    loaded = [profiles.load(name) for name in ("anthropic_openai_compat", "openrouter", "litellm", "vllm", "mistral")]
    for first in loaded:
        for second in loaded:
            assert all(each.sentence.endswith(".") for each in differences(first, second))


def test_an_unknown_provider_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["provider", "diff", "openai", "depseek"])
    assert "did you mean deepseek" in capsys.readouterr().err
