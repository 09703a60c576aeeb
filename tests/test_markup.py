"""Markup that leaks is found wherever a reply has text, and text about markup is not."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.judge import check
from conformance.markup.detection import find_leaks
from conformance.markup.families import family_of
from conformance.markup.layers import layer_of
from conformance.markup.patterns import patterns, required_word
from conformance.markup.reading import read_calls
from conformance.markup.signs import CALL, REASONING, REMAINS, TOKEN, may_leak
from conformance.results import Level, Status
from conformance.rules import select
from conformance.wire.exchange import Exchange
from tests import scripted
from tests.loops import every

CITY = '{"city": "Rome"}'
NAMES = ("get_weather", "search")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in NAMES]
RULES = select(("response/no-markup-in-content", "reasoning/no-markup", "reasoning/no-think-tags-in-content"))

LEAKS: list[tuple[str, str, str]] = [
    (f'Sure.\n<tool_call>{{"name": "get_weather", "arguments": {CITY}}}</tool_call>', CALL, "hermes"),
    (
        f'It is as it is <tool_call>\n{{"name": "get_weather", "arguments": {CITY}}}\n</tool_call>',
        CALL,
        "hermes",
    ),
    (f"functions.get_weather:7{CITY}functions.get_weather:8{CITY}", REMAINS, "kimi_k2"),
    (f"I check.<|tool_call_begin|>functions.get_weather:3<|tool_call_argument_begin|>{CITY}", CALL, "kimi_k2"),
    ("I greet back.assistantfinalHello! How can I help?", REASONING, "gpt_oss"),
    (f"commentary to=functions.get_weather json{CITY}", REMAINS, "gpt_oss"),
    ("Okay, Rome is warm in May.\n</think>\nYes, quite warm.", REASONING, "hermes"),
    ("Yes, quite warm.<|im_end|>", TOKEN, "hermes"),
    ("Yes, quite warm.<|eot_id|>", TOKEN, "llama_json"),
    ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Ro', CALL, "deepseek_v3"),
    ('<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>', CALL, "minimax_m2"),
    (f"get_weather[ARGS]{CITY}", CALL, "mistral"),
    ("I ask.\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>", CALL, "qwen3_coder"),
    ("\n</parameter>\n</function>", REMAINS, "qwen3_coder"),
    (f'{{"name": "get_weather", "arguments": {CITY}}}', CALL, "llama_json"),
    ('Checking:\n[get_weather(city="Rome")]', CALL, "llama_pythonic"),
    (f"get_weather{CITY}", CALL, "llama_json"),
    ('<|tool_call>call:get_weather{city:<|"|>Rome<|"|>}<tool_call|>', CALL, "gemma4"),
    ("thought\nThe user asks for Rome.", REASONING, "gemma4"),
    ("Let me check that for you.<tool_", REMAINS, "hermes"),
    ("I have all I need. <｜DS", REMAINS, "deepseek_dsml"),
    ("▁call▁begin｜>get_weather<｜tool▁sep｜>", CALL, "deepseek_v3"),
    ("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>", CALL, "glm"),
    ("好的，我来查。<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value>", CALL, "glm"),
    (f"<tool_use>\n<name>get_weather</name>\n<arguments>{CITY}</arguments>\n</tool_use>", CALL, "hermes"),
    (f"I look.\n<tool_name>get_weather</tool_name>\n<parameters>{CITY}</parameters>\n", CALL, "hermes"),
    ("Rome is warm.\n<|unheard_of|>", TOKEN, ""),
]
"""Texts with a leak of a kind; the last name is one of the families that write so."""

TALK = [
    "Qwen models write `<tool_call>` before each call and `</tool_call>` after it.",
    f'It looks so:\n\n```\n<tool_call>\n{{"name": "get_weather", "arguments": {CITY}}}\n</tool_call>\n```\n\nYou see.',
    "The tag <think> marks where the reasoning starts, and </think> where it ends.",
    "Two tags matter:\n\n- <think> opens the reasoning\n- </think> closes it",
    "| token | use |\n| --- | --- |\n| <|im_start|> | start |\n| <|im_end|> | end |",
    "Use <b>bold</b> or <s>struck</s> text in HTML.",
    "In F#, `x |> f` pipes a value; `<|` does the reverse.",
    '{"name": "Rome", "population": 2800000}',
    "> 12:01 ERROR parser: unexpected <|im_end|>\n\nThe detokenizer kept a special token.",
    "2026-11-20 12:01:00 content: <|im_end|>",
    "{% for m in messages %}<|im_start|>{{ m.role }}<|im_end|>{% endfor %}",
    'Call get_weather(city="Rome") in your script, and print the result.',
    "Kimi names its ids functions.get_weather:0, functions.get_weather:1 and so on.",
    'An XML file with <function name="sum"> and <parameter name="a"/> describes the interface.',
    "The token <|endoftext|> separates documents.",
    "The stop sequence is: </s>",
    "Python shows >>> as its prompt:\n>>> sum([1, 2])\n3",
    f"I called the tool get_weather with {CITY} and it said 21 degrees.",
    f'A request looks like this: {{"name": "get_weather", "arguments": {CITY}}}. The server answers.',
    'If "<tool_call>" shows up in your content, start the server with a tool parser.',
    "Hermes emitted <tool_call>{}</tool_call> in its text, which your client did not parse.",
    "My thought process: first I look at the sky.",
    "<!-- <tool_call> --> is a comment.",
    f"<person>\n<name>get</name>\n<arguments>{CITY}</arguments>\n</person>",
    "Send <tool><name>get_weather</name></tool> with <arguments>{}</arguments> and then wait for the answer.",
]


@every(("text", "kind", "family"), LEAKS)
def test_a_leak_has_its_kind_and_its_families(text: str, kind: str, family: str) -> None:
    first = find_leaks(text, NAMES)[0]
    assert kind == first.kind
    assert family in [each.name for each in first.families] or not (family or first.families)


@every("text", TALK)
def test_text_about_markup_does_not_leak(text: str) -> None:
    assert () == find_leaks(text, NAMES)


def test_a_call_without_markers_needs_the_name_of_a_declared_tool() -> None:
    text = f'{{"name": "get_weather", "arguments": {CITY}}}'
    assert (1, 0) == (len(find_leaks(text, NAMES)), len(find_leaks(text)))


def test_every_marker_of_every_family_leaks_after_a_sentence_and_passes_the_quick_search() -> None:
    markers = patterns().markers
    assert 250 < len(markers)
    assert [] == [each for each in markers if not may_leak(each)]
    assert [] == [each for each in markers if not find_leaks(f"It is warm.\n{each}\n")]


def test_a_family_of_several_is_that_of_the_model() -> None:
    families = find_leaks("</think>\nWarm.")[0].families
    named = {model: family_of(families, model) for model in ("Qwen/Qwen3-Coder-480B", "zai-org/GLM-4.6", "x")}
    assert {"Qwen/Qwen3-Coder-480B": "qwen3_coder", "zai-org/GLM-4.6": "glm", "x": "hermes"} == {
        model: family.name for model, family in named.items() if family
    }


@every(
    ("text", "expected"),
    [
        (f'<tool_call>{{"name": "get_weather", "arguments": {CITY}}}</tool_call>', [{"city": "Rome"}]),
        ("<function=get_weather>\n<parameter=days>\n3\n</parameter>\n</function>", [{"days": 3}]),
        ("<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value>", [{"city": "Rome"}]),
        ("<tool_call>get_weather</tool_call>", [{}]),
        ('[get_weather(city="Rome"), search(q="(", n=2)]', [{"city": "Rome"}, {"q": "(", "n": 2}]),
        ('call:get_weather{city:<|"|>Rome<|"|>,days:3}', [{"city": "Rome", "days": 3}]),
        (f"functions.get_weather:0{CITY} functions.search:1 {{}}", [{"city": "Rome"}, {}]),
        ('<tool_call>{"name": "get_weather", "argum', []),
        ("I could use get_weather.", []),
    ],
)
def test_calls_are_read_from_a_text(text: str, expected: Sequence[Any]) -> None:
    assert expected == [dict(call.arguments) for call in read_calls(text, NAMES)]


def bodies(wire: str, text: str) -> dict[str, Any]:
    """Return a reply of a wire with a text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    made: dict[str, dict[str, Any]] = {
        "chat": scripted.chat(content=text),
        "messages": scripted.messages([{"type": "text", "text": text}]),
        "responses": scripted.responses([item]),
        "gemini": scripted.gemini([{"text": text}]),
    }
    return made[wire]


REQUESTS: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": TOOLS},
    "messages": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in NAMES],
    },
    "responses": {
        "model": "m",
        "input": "Hi",
        "tools": [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in NAMES],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [{"name": name} for name in NAMES]}],
    },
}


def found(request: Any, response: Any) -> list[tuple[str, Level]]:
    outcomes = check(Exchange(request=request, response=response), None, RULES)
    return [(outcome.rule, outcome.level) for outcome in outcomes if outcome.status is Status.FAILED]


@every("wire", REQUESTS)
def test_a_leak_in_the_content_is_a_must_beside_tools_on_every_wire_plain_and_streamed(wire: str) -> None:
    text = LEAKS[0][0]
    for response in (bodies(wire, text), scripted.streamed(wire, bodies(wire, text))):
        assert [("response/no-markup-in-content", Level.MUST)] == found(REQUESTS[wire], response)
        bare = {key: value for key, value in REQUESTS[wire].items() if key != "tools"}
        assert [("response/no-markup-in-content", Level.SHOULD)] == found(bare, response)


def chunks(pieces: Sequence[str]) -> str:
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[tuple[dict[str, Any], Any]] = [({"role": "assistant", "content": each}, None) for each in pieces]
    events = [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in [*deltas, ({}, "stop")]
    ]
    return "".join([f"data: {json.dumps(each)}\n\n" for each in events]) + "data: [DONE]\n\n"


@every("text", [text for text, *_ in LEAKS[:4]])
def test_a_leak_is_found_whatever_the_borders_of_chunks(text: str) -> None:
    whole = found(REQUESTS["chat"], bodies("chat", text))
    assert whole
    for border in range(1, len(text), 7):
        assert whole == found(REQUESTS["chat"], chunks([text[:border], text[border:]]))
    assert whole == found(REQUESTS["chat"], chunks(list(text)))


def test_what_users_and_tools_wrote_is_no_leak_unless_it_calls_a_declared_tool() -> None:
    messages = [{"role": "user", "content": "Which token ends a turn, <|im_end|> or <|eot_id|>? Print it alone."}]
    request = {**REQUESTS["chat"], "messages": messages}
    assert [] == found(request, bodies("chat", "<|im_end|>"))
    asked = [{"role": "user", "content": "What is <tool_call>?"}]
    leaked = [("response/no-markup-in-content", Level.MUST)]
    assert leaked == found({**REQUESTS["chat"], "messages": asked}, bodies("chat", LEAKS[0][0]))


def test_reasoning_may_draft_a_call_but_not_end_with_one() -> None:
    def reply(reasoning: str) -> dict[str, Any]:
        return scripted.chat(content="Warm.", reasoning_content=reasoning)

    call = LEAKS[0][0]
    assert [("reasoning/no-markup", Level.SHOULD)] == found(REQUESTS["chat"], reply(call))
    assert [] == found(REQUESTS["chat"], reply(f"{call}\n\nThat is what I would call, but there is no need."))


def facts(shared: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = yaml.safe_load((shared / "facts" / "markup.yaml").read_text("utf-8"))
    return listed


def test_each_known_leak_is_found_in_content_and_in_reasoning_and_no_benign_text(shared: Path) -> None:
    leaks = [text for family in facts(shared) for text in family["leak_examples"]]
    benign = [text for family in facts(shared) for text in family["benign_examples"]]
    assert (146, 62) == (len(leaks), len(benign))
    missed = {text for text in leaks if not found(REQUESTS["chat"], bodies("chat", text))}
    assert set() == missed
    thinking = {text: scripted.chat(content="Warm.", reasoning_content=text) for text in leaks}
    assert [] == [text for text, reply in thinking.items() if not found(REQUESTS["chat"], reply)]
    assert [] == [text for text in benign if found(REQUESTS["chat"], bodies("chat", text))]


@pytest.mark.slow
def test_each_known_leak_is_found_at_every_border_of_chunks(shared: Path) -> None:
    leaks = sorted({text for family in facts(shared) for text in family["leak_examples"]})
    missed = [
        (text, border)
        for text in leaks
        for border in range(1, len(text), 9)
        if not found(REQUESTS["chat"], chunks([text[:border], text[border:]]))
    ]
    assert [] == missed


HOSTILE = (
    "<tool_call>", "</answer>\n", "<|a", "{\n", "a-", "`", "<code ", "<!--", "}</tool_call>", "functions.", "call:a{",
    "[\n", " \n", '[{"name":', "a(b=", "~~~\n", "|>",
)  # fmt: skip


def hostile() -> Iterator[str]:
    yield from (f"<tool_call>{each * 4000}{{}}" for each in HOSTILE)


@every("text", hostile())
def test_the_cost_grows_with_the_text_and_no_faster(text: str) -> None:
    # A quadratic search takes minutes for these.
    started = time.process_time()
    find_leaks(text * 2, NAMES)
    assert time.process_time() - started < 5


def test_the_rule_names_family_marker_and_the_option_that_starts_the_parser() -> None:
    (outcome,) = check(Exchange(request=REQUESTS["chat"], response=bodies("chat", LEAKS[2][0])), None, RULES[-1:])
    message = outcome.findings[0].message
    assert re.fullmatch(r"expected text, got what is left of a tool call in the markup of Kimi K2 \(.*\): .*", message)
    assert message.endswith(
        "the server's tool-call parser did not take it; start vLLM with `--tool-call-parser kimi_k2`, "
        "SGLang with `--tool-call-parser kimi_k2`"
    )


def test_with_a_provider_only_the_option_of_its_engine_is_named() -> None:
    exchange = Exchange(request=REQUESTS["chat"], response=bodies("chat", LEAKS[2][0]))
    options = {
        name: check(exchange, name, RULES[-1:])[0].findings[0].message for name in ("vllm", "sglang", "deepseek")
    }
    start = "the server's tool-call parser did not take it"
    assert options["vllm"].endswith(f"{start}; start vLLM with `--tool-call-parser kimi_k2`")
    assert options["sglang"].endswith(f"{start}; start SGLang with `--tool-call-parser kimi_k2`")
    assert options["deepseek"].endswith(start)


THINKS = "<think>Hm.</think>Yes."
JSON_CALL = f'<tool_call>\n{{"name": "get_weather", "arguments": {CITY}}}\n</tool_call>'
COMMAND = "<|START_THINKING|>Hm.<|END_THINKING|>Yes."
GLM_CALL = "<tool_call>get_weather\n<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>"
ADVICE = [
    ("moonshotai/Kimi-K2-Thinking", THINKS, "kimi_k2", "kimi_k2"),
    ("Kimi-K2-Instruct", "[THINK]Hm.[/THINK]Yes.", "kimi_k2", "kimi_k2"),
    ("Qwen/QwQ-32B", THINKS, "deepseek_r1", ""),
    ("deepseek-ai/DeepSeek-V3.2", THINKS, "deepseek_v3", "deepseek-v3"),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", THINKS, "deepseek_r1", "deepseek-r1"),
    ("tencent/Hunyuan-A13B-Instruct", THINKS, "hunyuan_a13b", ""),
    ("nvidia/Nemotron-3-Nano", THINKS, "nemotron_v3", "nemotron_3"),
    ("stepfun-ai/Step-3.5-Flash", THINKS, "step3p5", "step3p5"),
    ("baidu/ERNIE-4.5-21B-A3B-Thinking", THINKS, "ernie45", ""),
    ("internlm/Intern-S1", THINKS, "", "interns1"),
    ("CohereLabs/command-a-plus-05-2026-bf16", COMMAND, "cohere_command4", "cohere_command4"),
    ("CohereLabs/command-a-reasoning-08-2025", COMMAND, "cohere_command3", ""),
    ("LGAI-EXAONE/EXAONE-4.0-32B", THINKS, "", ""),
    ("zai-org/GLM-4.5-Air", GLM_CALL, "glm45", "glm45"),
    ("MiniMaxAI/MiniMax-M1-80k", "<tool_calls>\n{}</tool_calls>", "", ""),
    ("ibm-granite/granite-4.0-h-small", JSON_CALL, "granite4", ""),
    ("NousResearch/Hermes-3-Llama-3.1-8B", JSON_CALL, "hermes", "hermes"),
    ("Qwen/Qwen3-Coder-480B-A35B-Instruct", JSON_CALL, "qwen3_coder", "qwen3_coder"),
    ("claude-sonnet-4", "<|tool_call_begin|>functions.get_weather:0", "kimi_k2", "kimi_k2"),
]


@every(("model", "text", "vllm", "sglang"), ADVICE)
def test_only_the_parsers_that_an_engine_documents_for_the_model_are_advised(
    model: str, text: str, vllm: str, sglang: str
) -> None:
    leak = find_leaks(text, NAMES)[0]
    option = "--reasoning-parser" if leak.kind == REASONING else "--tool-call-parser"
    expected = [f"{title} with `{option} {name}`" for title, name in (("vLLM", vllm), ("SGLang", sglang)) if name]
    start, _, advised = layer_of(leak, model).partition("; start ")
    assert (f"the server's {option[2:].replace('-parser', '')} parser did not take it", ", ".join(expected)) == (
        start,
        advised,
    )


def test_without_the_name_of_the_model_no_parser_of_several_is_advised() -> None:
    (leak, *_) = find_leaks(THINKS)
    start = "the server's reasoning parser did not take it; start the server with"
    words = f"{start} the reasoning parser of the model's family"
    assert [words] * 3 == [layer_of(leak, model) for model in ("tiny", "spring-model", "claude-sonnet-4")]


@every("wire", REQUESTS)
def test_what_a_model_writes_as_text_is_no_fault_of_a_server(wire: str) -> None:
    def judged(text: str, model: str) -> list[tuple[Level, str]]:
        exchange = Exchange(request=REQUESTS[wire], response=bodies(wire, text), model=model)
        outcomes = check(exchange, None, RULES)
        return [(each.level, found.message.split(": ", 1)[1]) for each in outcomes for found in each.findings]

    words = "the model wrote it as text: no server has a reasoning parser for it"
    said = "<thinking>I look it up.</thinking>Yes."
    assert [(Level.MAY, words)] == judged(said, "claude-3-opus-20240229")
    assert [(Level.SHOULD, words)] == judged(said, "Qwen/Qwen3-32B")
    called = '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>'
    assert [(Level.MUST, words.replace("reasoning", "tool-call"))] == judged(called, "claude-3-opus-20240229")


REQUIRED = [
    (r"<tool_call>\s*\{", "<tool_call>"),
    (r"<tool_calls?(?::\w+)?>\s*[\w.-]+", "<tool_call"),
    (r"(?<![\w.-])[\w.-]{1,80}\[ARGS\]\s*\{", "[ARGS]"),
    (r"\}\s*</tool_call>", "</tool_call>"),
    (r"ab*c{0,3}d", "a"),
    (r"begin|end", ""),
    (r"(?i:begin)end", ""),
    (r"\w+(?:begin)", ""),
    (r"[a|b]end", "end"),
]


@every(("pattern", "expected"), REQUIRED)
def test_the_required_word_of_a_pattern_stands_in_all_that_it_matches(pattern: str, expected: str) -> None:
    assert expected == required_word(pattern)
