"""The scripted model: its files are those that were checked, it knows the scenarios' words, and its exports repeat."""

import hashlib
import importlib
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.engines import definition as engines
from conformance.resources import folder
from conformance.scenarios import RESULT
from conformance.suite import nonces
from tests.loops import every

MODEL = folder("fixtures") / "model"
TEMPLATES = sorted(path.stem for path in (MODEL / "templates").glob("*.jinja"))
ENGINES = [profiles.load(engines.load(name).provider) for name in engines.names()]
PLAYED = [
    name
    for name in scenarios.names()
    if not (scenario := scenarios.load(name)).for_clients
    and any(scenario.unmet(profile.at(profile.model)) is None for profile in ENGINES)
]
"""The scenarios that an engine can be asked, and whose questions the model must know."""
MARKERS = ("[plain]", "[bare]", "[reason]", "[one]", "[two]", "[mix]", "[noargs]", "[unk]", "[bad]")

CALL_TOKENS = {
    "qwen3": ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>"),
    "glm": ("<think>", "</think>", "<tool_call>", "<arg_key>", "<arg_value>", "<|observation|>"),
    "kimi": ("<think>", "</think>", "<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>"),
    "deepseek": ("<think>", "</think>", "<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁output▁begin｜>"),
}
"""Tokens that the parsers of engines look for, by the template that must have them."""


def read(name: str) -> Any:
    return json.loads((MODEL / name).read_text("utf-8"))


def tokens() -> dict[str, int]:
    return {token["content"]: token["id"] for token in read("tokenizer.json")["added_tokens"]}


def script_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"model_{name}", MODEL / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_model_is_small() -> None:
    folders = (MODEL, MODEL / "templates", MODEL / "making")
    assert sum(path.stat().st_size for each in folders for path in each.iterdir() if path.is_file()) < 5_000_000


@every(("name", "digest"), read("manifest.json")["sha256"].items())
def test_each_file_is_the_one_that_was_checked(name: str, digest: str) -> None:
    assert digest == hashlib.sha256((MODEL / name).read_bytes()).hexdigest()


def test_every_scripted_reply_was_exact() -> None:
    checked = read("manifest.json")["scripted"]
    assert checked["total"] == checked["exact"]
    assert checked["total"] > len(TEMPLATES) * len(MARKERS)


def test_every_reply_that_copies_random_values_was_exact() -> None:
    checked = read("manifest.json")["copying"]
    assert checked["total"] == checked["exact"]
    assert checked["total"] >= 10_000


@pytest.fixture(scope="module")
def script() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MODEL))
        return importlib.import_module("making.script")


def test_the_model_copies_values_as_the_suite_draws_them(script: ModuleType) -> None:
    drawn = [nonces.value("a case", turn, 0) for turn in range(200)]
    assert set(script.NONCE_ALPHABET) == set().union(*drawn)
    assert {script.NONCE_LENGTH} == {len(each) for each in drawn}


def test_each_character_of_such_a_value_is_a_token_of_its_own(script: ModuleType) -> None:
    pairs = read("tokenizer.json")["model"]["merges"]
    assert [] == [pair for pair in pairs if set(script.NONCE_ALPHABET) & set("".join(pair))]
    assert set() == set(script.NONCE_ALPHABET) - read("tokenizer.json")["model"]["vocab"].keys()
    assert [] == [text for text in tokens() if set(text) <= set(script.NONCE_ALPHABET)]


@pytest.mark.parametrize("scenario", PLAYED)
def test_the_model_replies_as_the_scenario_says(scenario: str, script: ModuleType) -> None:
    other = {"twins-answer": "plain-answer", "twins-call": "one-tool-call", "twins-thinking": "reasoning-without-tools"}
    turns = scenarios.load(scenario).turns
    replies = [reply for _, reply in script.SCENES[other.get(scenario, scenario)]][: len(turns)]
    places = [RESULT.sub("{}", turn.says) for turn in turns]
    assert [text.format(*turn.results) for text, turn in zip(places, turns, strict=True)] == [
        reply.words.format(*turn.results) for reply, turn in zip(replies, turns, strict=True)
    ]
    assert [[name for name, _ in turn.calls] for turn in turns] == [
        [call.name for call in reply.calls] for reply in replies
    ]


def test_the_sizes_are_those_of_the_vocabulary_and_the_weights() -> None:
    config, tokenizer = read("config.json"), read("tokenizer.json")
    numbers = {*(tokenizer["model"]["vocab"] | tokens()).values()}
    assert numbers == set(range(len(numbers)))
    assert len(numbers) <= config["vocab_size"]
    raw = (MODEL / "model.safetensors").read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    shapes = [[config["vocab_size"], config["hidden_size"]]] * 2
    assert shapes == [header[name]["shape"] for name in ("lm_head.weight", "model.embed_tokens.weight")]


def questions(name: str) -> list[tuple[str, Any]]:
    """Return the questions of a scenario, each with what the model replies; twins have those of other scenarios."""
    return [(turn.user, (turn.says, turn.calls)) for turn in scenarios.load(name).turns if turn.user is not None]


@pytest.mark.parametrize("scenario", PLAYED)
def test_every_question_of_a_scenario_has_a_distinct_phrase(scenario: str) -> None:
    known = [text for text in tokens() if " " in text]
    asked = [question for name in PLAYED for question in questions(name)]
    for prompt, reply in questions(scenario):
        own = [text for text in known if text in prompt]
        assert own, f"no phrase of the model's vocabulary is in {prompt!r}"
        assert [] == [text for text in own for other, replied in asked if replied != reply and text in other]


def test_every_marker_is_one_token() -> None:
    assert set() == set(MARKERS) - tokens().keys()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_has_the_tags_that_parsers_look_for_as_one_token_each(template: str) -> None:
    source = (MODEL / "templates" / f"{template}.jinja").read_text("utf-8")
    assert [] == [tag for tag in CALL_TOKENS[template] if tag not in source or tag not in tokens()]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_ends_turns_with_tokens_that_the_model_stops_at(template: str) -> None:
    ends = read("templates/tokens.json")[template]
    stops = read("generation_config.json")["eos_token_id"]
    assert set() == {tokens()[ends[role]] for role in ("eos", "eot", "eom") if ends[role]} - set(stops)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_renders_the_reasoning_of_the_current_tool_turn(template: str, field: str) -> None:
    prompt = read("prompts.json")[template][field]
    assert [1, 2, 1] == [prompt.count(text) for text in ("A thought.", "Oslo", "Weather?")]


def test_templates_drop_the_reasoning_of_earlier_questions_as_their_vendors_do() -> None:
    seen = {
        template: "A thought." in prompts["earlier reasoning"] for template, prompts in read("prompts.json").items()
    }
    assert seen == {"qwen3": False, "glm": False, "kimi": False, "deepseek": True}


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_closes_the_reasoning_if_thinking_is_off(template: str) -> None:
    prompts = read("prompts.json")[template]
    assert [False, True] == [prompts[name].rstrip().endswith("</think>") for name in ("thinking", "not thinking")]


def test_the_committed_prompts_are_what_the_templates_render(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(
        "jinja2", reason="jinja2 is not installed: no template is rendered, only checksums are compared"
    )
    monkeypatch.syspath_prepend(str(MODEL))
    assert read("prompts.json") == importlib.import_module("making.examples").examples()


@pytest.fixture(params=TEMPLATES)
def export(request: pytest.FixtureRequest) -> Callable[[Path], dict[str, bytes]]:
    def exported(out: Path) -> dict[str, bytes]:
        script_module("to_folder").export(MODEL, out, request.param)
        return {path.name: path.read_bytes() for path in sorted(out.iterdir())}

    return exported


def test_a_folder_for_engines_has_one_template_and_the_weights(
    export: Callable[[Path], dict[str, bytes]], tmp_path: Path
) -> None:
    files = export(tmp_path / "one")
    assert files == export(tmp_path / "two")
    assert files["model.safetensors"] == (MODEL / "model.safetensors").read_bytes()
    assert files["chat_template.jinja"] in [path.read_bytes() for path in MODEL.glob("templates/*.jinja")]


def test_the_gguf_file_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="gguf is not installed: no GGUF file is written")
    convert = script_module("to_gguf").convert
    for name in ("one", "two"):
        convert(MODEL, tmp_path / name, "glm")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
