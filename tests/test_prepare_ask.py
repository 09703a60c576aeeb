"""`conformance prepare --ask`: words become a host, a model and a wish, and its requests contradict no claim."""

import json
from typing import Any

import pytest

from conformance import profiles, rules
from conformance.cli import main
from conformance.errors import AmbiguousName, UnknownName, Unusable
from conformance.judge import check
from conformance.reporting.asked.fields import fields
from conformance.reporting.asked.requests import Wish, sample
from conformance.reporting.asked.words import understood
from conformance.results import Level, Status
from conformance.wire.views import Side
from conformance.wires import as_sent
from tests.loops import every

CLIENTS = frozenset(rule.id for rule in rules.load() if rule.on.side is Side.CLIENT)
WISHES = [
    Wish(tools=tools, parallel=parallel, thinking=thinking, stream=stream)
    for tools, parallel in ((False, False), (True, False), (True, True))
    for thinking in (None, True, False)
    for stream in (False, True)
]
ON_ALL_WIRES = [(name, wire) for name in profiles.names() for wire in profiles.load(name).wires]
CASES = [(name, wire, wish) for name, wire in ON_ALL_WIRES for wish in WISHES]
SAMPLE = CASES[::11]


def passes(name: str, wire: str, wish: Wish) -> None:
    profile = profiles.load(name).on(wire)
    found = sample(profile, wish)
    assert found is not None
    assert fields(found, profile, wish)
    for conversation in ((as_sent(found.first, wire),), (found.before, as_sent(found.second, wire))):
        outcomes = [each for each in check(conversation, profile) if each.rule in CLIENTS]
        broken = [
            (each.rule, each.reason or each.findings[0].message)
            for each in outcomes
            if each.status is Status.ERRORED or (each.status is Status.FAILED and each.level is Level.MUST)
        ]
        assert [] == broken
        assert [] == [finding.message for each in outcomes for finding in each.findings if finding.contested]


@every(("name", "wire", "wish"), SAMPLE)
def test_the_requests_for_a_wish_pass_the_check_of_their_provider(name: str, wire: str, wish: Wish) -> None:
    passes(name, wire, wish)


@pytest.mark.slow
@every(
    ("name", "wire", "wish"),
    [pytest.param(*each, marks=pytest.mark.exhaustive if number % 6 else []) for number, each in enumerate(CASES)],
)
def test_the_requests_for_every_wish_pass_the_check_of_every_provider(name: str, wire: str, wish: Wish) -> None:
    passes(name, wire, wish)


TOOLS = Wish(tools=True)
THINKING = Wish(tools=True, thinking=True)

UNDERSTOOD = [
    ("deepseek, tools, thinking on", "deepseek", "", THINKING),
    ("deepseek with tools and thinking", "deepseek", "", THINKING),
    ("DeepSeek tools no thinking", "deepseek", "", Wish(tools=True, thinking=False)),
    ("Kimi K2 Thinking, tools", "moonshot", "kimi-k2-thinking", TOOLS),
    ("kimi-k2-thinking thinking off", "moonshot", "kimi-k2-thinking", Wish(thinking=False)),
    ("Kimi K3 parallel stream", "moonshot", "kimi-k3", Wish(tools=True, parallel=True, stream=True)),
    ("groq kimi k2, tools", "groq", "moonshotai/kimi-k2-instruct", TOOLS),
    (
        "kimi k2 on groq with tools and thinking off, streamed",
        "groq",
        "moonshotai/kimi-k2-instruct",
        Wish(tools=True, thinking=False, stream=True),
    ),
    ("groq, llama-3.3-70b-versatile", "groq", "llama-3.3-70b-versatile", Wish()),
    ("glm 4.6 at cerebras, tools, reasoning on", "cerebras", "glm-4.6", THINKING),
    ("claude, messages, tools", "anthropic.messages", "", TOOLS),
    ("deepseek, anthropic messages, tools", "deepseek.messages", "", TOOLS),
    ("openai responses, tools", "openai.responses", "", TOOLS),
    ("gpt-5.4, responses, stream", "openai.responses", "gpt-5.4", Wish(stream=True)),
    ("gemini, tools", "gemini.gemini", "", TOOLS),
    ("vertex, gemini, parallel tool calls", "vertex.gemini", "", Wish(tools=True, parallel=True)),
    ("Z.ai; tools; plain", "zai", "", TOOLS),
    ("vllm, kimi-k2-thinking", "vllm", "kimi-k2-thinking", Wish()),
    ("GLM-4.6 with tool calling, reasoning enabled", "zai", "glm-4.6", THINKING),
    ("ollama qwen3:8b no think", "ollama", "qwen3:8b", Wish(thinking=False)),
    (
        "OpenRouter deepseek/deepseek-r1 reasoning on stream",
        "openrouter",
        "deepseek/deepseek-r1",
        Wish(thinking=True, stream=True),
    ),
    ("minimax m2 with tools, interleaved thinking", "minimax", "minimax-m2", THINKING),
    ("DeepSeek's V4 Pro, tools, thinking on", "deepseek", "deepseek-v4-pro", THINKING),
    ("deepseek, THINKING ON, Tools.", "deepseek", "", THINKING),
    ("thinking on deepseek tools", "deepseek", "", THINKING),
    ("Bedrock, claude, messages, thinking on, tools", "bedrock.messages", "", THINKING),
    (
        "I want Claude Sonnet 5.5 to call my tools with no thinking, please",
        "anthropic.messages",
        "claude-sonnet-5-5",
        Wish(tools=True, thinking=False),
    ),
    ("How do I stream reasoning from deepseek?", "deepseek", "", Wish(thinking=True, stream=True)),
    (
        "use the responses api with gpt-5.6 and parallel tool calls",
        "openai.responses",
        "gpt-5.6",
        Wish(tools=True, parallel=True),
    ),
    ("llama.cpp server with gpt-oss and tools", "llamacpp", "gpt-oss", TOOLS),
    (
        "which request do I send so that Haiku 5.5 thinks a little and uses two functions",
        "anthropic.messages",
        "claude-haiku-5-5",
        THINKING,
    ),
    ("call a function with gpt 6.1 sol through /v1/responses, effort max", "openai.responses", "gpt-6.1-sol", THINKING),
    (
        "fireworks hosted kimi k2 thinking, stream it with tools",
        "fireworks",
        "accounts/fireworks/models/kimi-k2-thinking",
        Wish(tools=True, stream=True),
    ),
    (
        "claude code against DeepSeek's anthropic endpoint with extended thinking",
        "deepseek.messages",
        "",
        Wish(thinking=True),
    ),
    (
        "gemini-3-flash-preview in Vertex AI streaming function calls",
        "vertex.gemini",
        "gemini-3-flash-preview",
        Wish(tools=True, stream=True),
    ),
    (
        "xAI's grok 4.3 /responses: encrypted reasoning and parallel function calls",
        "xai.responses",
        "grok-4.3",
        Wish(tools=True, parallel=True, thinking=True),
    ),
    (
        "sglang server with glm 5.3: tool calls, turn reasoning off",
        "sglang",
        "glm-5.3",
        Wish(tools=True, thinking=False),
    ),
    (
        "Google AI Studio: gemini flash, no reasoning, tools",
        "gemini.gemini",
        "gemini-flash",
        Wish(tools=True, thinking=False),
    ),
    ("use deepseek reasoner but without any tools and streamed", "deepseek", "deepseek-reasoner", Wish(stream=True)),
    (
        "what does Gemini want back when it calls two functions in parallel",
        "gemini.gemini",
        "",
        Wish(tools=True, parallel=True),
    ),
    (
        "I'd like claude opus 4.6 on open router to call two tools at once, streaming",
        "openrouter",
        "anthropic/claude-opus-4.6",
        Wish(tools=True, parallel=True, stream=True),
    ),
    ("anthropic claude opus 4.6 at openrouter, tools", "openrouter", "anthropic/claude-opus-4.6", TOOLS),
    (
        "anthropic's sonnet 5.5 on aws bedrock, native messages wire, tools",
        "bedrock.messages",
        "claude-sonnet-5-5",
        TOOLS,
    ),
    ("mistral's magistral medium with tools", "mistral", "magistral-medium", TOOLS),
    ("mistral medium 3.5 on mistral with tools", "mistral", "mistral-medium-3-5", TOOLS),
    ("gpt oss 120b hosted by groq with a tool", "groq", "openai/gpt-oss-120b", TOOLS),
    ("openai gpt oss 120b on together with a tool call", "together", "openai/gpt-oss-120b", TOOLS),
    ("moonshot kimi k3 on openrouter with tools", "openrouter", "moonshotai/kimi-k3", TOOLS),
    ("google's gemini 3 pro over vercel ai gateway, tools", "vercel_gateway", "google/gemini-3-pro", TOOLS),
    ("vertex gemini 2.5 flash with one tool", "vertex.gemini", "gemini-2.5-flash", TOOLS),
    (
        "please show me how deepseek v4 pro on together.ai calls a tool while it reasons",
        "together",
        "deepseek-ai/deepseek-v4-pro",
        Wish(tools=True, thinking=True),
    ),
    (
        "github copilot with claude sonnet 4.6 and tools over /v1/messages",
        "github_copilot.messages",
        "claude-sonnet-4.6",
        TOOLS,
    ),
]


@every(("text", "name", "model", "wish"), UNDERSTOOD)
def test_words_name_a_host_a_model_a_wire_and_a_turn(text: str, name: str, model: str, wish: Wish) -> None:
    asked = understood(text)
    assert (name, wish) == (asked.profile.name, asked.wish)
    assert (model or asked.profile.model) == asked.profile.model


NOT_UNDERSTOOD: list[tuple[str, type[Exception], str]] = [
    ("deepseek, tols", UnknownName, "unknown word in the wish 'tols'; did you mean tools, tool"),
    ("deepseek streamd", UnknownName, "unknown word in the wish 'streamd'; did you mean stream"),
    ("deepseek, thnking on", UnknownName, "unknown word in the wish 'thnking'; did you mean thinking"),
    ("deepseek banana tools", UnknownName, "unknown word in the wish 'banana'"),
    ("depseek, tools", UnknownName, "did you mean deepseek"),
    ("deepseek, tools, no tools", Unusable, "the wish says 'tools' and 'no tools'"),
    ("deepseek, groq", Unusable, "several hosts, deepseek and groq"),
    ("llama 3.3 70b, tools", AmbiguousName, "cerebras/llama-3.3-70b"),
    ("mistral, responses", Unusable, "the profile mistral has no claims about the wire responses; it has chat"),
    ("openai, messages, responses", Unusable, "two wires, messages and responses"),
    ("tools", Unusable, "names no host"),
    ("", Unusable, "names no host"),
    (
        "please ask deepseek for something but with a tol",
        UnknownName,
        "unknown word in the wish 'tol'; did you mean tool",
    ),
    ("my deepseek agent should never ever use the tools", UnknownName, "unknown word in the wish 'never'"),
]


@every(("text", "error", "words"), NOT_UNDERSTOOD)
def test_an_unknown_word_is_an_error_with_suggestions(text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        understood(text)
    assert words in str(raised.value)


def test_words_of_a_sentence_that_say_nothing_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    asked = understood("does moonshot's kimi k3 need the reasoning sent back after a tool call?")
    assert ("does", "sent", "back", "after") == asked.ignored
    assert 0 == main(["prepare", "--ask", "could you please show me what deepseek wants with tools"])
    assert (
        "note: these words of the wish say nothing here: 'could', 'you', 'show', 'wants'\n" == capsys.readouterr().err
    )


def test_both_requests_come_with_the_claims_of_their_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["prepare", "--ask", "deepseek, tools, thinking on", "--format", "json"])
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert "https://api.deepseek.com/chat/completions" == printed["first"]["url"]
    (asked,) = printed["first"]["body"]["messages"]
    again, called, result = printed["second"]["body"]["messages"]
    assert (asked, "tool", "18") == (again, result["role"], result["content"])
    reply = printed["reply"]["choices"][0]["message"]
    assert reply["reasoning_content"] == called["reasoning_content"]
    rows = {pointer: row for row in printed["fields"] for pointer in row["pointers"]}
    claims = {each["name"]: each for each in rows["/messages/1/reasoning_content"]["claims"]}
    omitted = claims["reasoning.omitted-on-tool-turn"]
    assert "refused with 400" in omitted["value"]
    assert ("2026-11-28", "high") == (omitted["read"], omitted["confidence"])


def test_what_is_open_of_the_core_facts_comes_with_the_command_that_settles_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0 == main(["prepare", "--ask", "moonshot, messages, tools"])
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Open of the core facts: "))
    assert "signature.altered (unknown)" in lines[at]
    assert "pytest --provider=moonshot --protocol=messages --model=" in lines[at + 1]


def test_a_contested_claim_is_named_with_what_the_other_source_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["prepare", "--ask", "deepseek, tools, thinking on"])
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if "content.empty-on-tool-turn" in line)
    assert "another source says refused with 400: https://github.com/vercel/ai/pull/14987" == lines[at + 1].strip()
    assert "sources disagree; what no source says is refused is sent" == lines[at + 2].strip()
    assert '"content":null' in "".join(lines)


def test_what_a_claim_rules_out_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["prepare", "--ask", "perplexity, tools, thinking off"])
    lines = capsys.readouterr().out.splitlines()
    expected = [
        "problem: without tools: the model does not call any (tools.supported)",
        "problem: with thinking: the model always thinks (thinking.mode)",
    ]
    assert expected == lines[1:3]


WRONG_CALLS = [
    (["--ask", "deepseek, tols"], "did you mean tools"),
    (["--ask", "deepseek", "file.json"], "omit file.json"),
    (["--ask", "deepseek", "--format", "messages"], "--ask has text or json"),
    (["--ask", "groq", "--provider", "deepseek"], "several hosts"),
    ([], "--provider is required"),
]


@every(("arguments", "words"), WRONG_CALLS)
def test_a_wrong_call_ends_with_two(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["prepare", *arguments])
    assert words in capsys.readouterr().err


def test_the_wish_needs_no_host_beside_a_provider() -> None:
    asked = understood("tools, parallel", "gemini", "gemini-3-flash-preview", "gemini")
    assert ("gemini.gemini", "gemini-3-flash-preview") == (asked.profile.name, asked.profile.model)
    assert Wish(tools=True, parallel=True) == asked.wish
