"""Each cause that ends a conversation has its own words, on every wire, plain and streamed."""

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.results import Evidence, Status
from conformance.results.runs import Case
from conformance.suite.failures import report_on_end
from tests.loops import every
from tests.scripted import chat, conversed, gemini, messages, played, responses, streamed

ARGUMENTS = '{"city":"Paris"}'
CUT = '{"city":"Pa'
KIMI = "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" + ARGUMENTS
NAMED = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}
ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": ARGUMENTS}
MODEL, WIRE = "ended before turn 2: ", "ended at turn 1: "


def left(place: str, marker: str, title: str, vllm: str, sglang: str) -> str:
    """Return the note about a call that was left as markup, with the parsers of its family."""
    start = f"start vLLM with `--tool-call-parser {vllm}`, SGLang with `--tool-call-parser {sglang}`"
    written = f"the call was left as markup in {place} ({marker!r}, the markup of {title})"
    return f"{WIRE}{written}: the server's tool-call parser did not take it; {start}"


HERMES = left("the content", "<tool_call>", "Hermes and Qwen (JSON) and others", "hermes", "qwen25")
CODER = left("the content", "<function=get_weather>", "Qwen3-Coder (XML)", "qwen3_coder", "qwen3_coder")


def call(arguments: Any = ARGUMENTS, name: Any = "get_weather") -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def text(said: str, key: str = "output_text") -> dict[str, Any]:
    member = "refusal" if key == "refusal" else "text"
    part: dict[str, Any] = {"type": key, member: said} | ({"annotations": []} if member == "text" else {})
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def said(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def cut(reason: str, *output: Any) -> dict[str, Any]:
    return responses(output, "incomplete", incomplete_details={"reason": reason})


CHAT = [
    (chat("length", content="I will"), MODEL + "the token limit cut the reply (finish_reason: length)"),
    (chat("length", tool_calls=[call(CUT)]), MODEL + "the token limit cut the reply (finish_reason: length)"),
    (chat("content_filter", content=""), MODEL + "a content filter ended the reply (finish_reason: content_filter)"),
    (chat(refusal="I cannot."), MODEL + "the model refused (refusal: 'I cannot.')"),
    (
        chat("function_call", function_call={"name": "get_weather", "arguments": ARGUMENTS}),
        WIRE + "the call get_weather is in the legacy function_call, not in tool_calls",
    ),
    (
        chat(content="<tool_call>\n{}\n</tool_call>"),
        HERMES,
    ),
    (
        chat(content="", reasoning_content=f"Look. {KIMI}"),
        left("the reasoning (reasoning_content)", "<|tool_calls_section_begin|>", "Kimi K2", "kimi_k2", "kimi_k2"),
    ),
    (
        chat(content='[TOOL_CALLS]get_weather[ARGS]{"city":"Paris"}'),
        left("the content", "[TOOL_CALLS]", "Mistral", "mistral", "mistral"),
    ),
    (
        chat(content='functions.get_weather:0{"city":"Paris"}'),
        left("the content", "functions.get_weather:0{", "Kimi K2", "kimi_k2", "kimi_k2"),
    ),
    (chat(content=[{**USE}]), WIRE + "the call is a part of content (tool_use), not in tool_calls"),
    (
        chat("tool_calls", tool_calls=[call(CUT)]),
        WIRE + 'the arguments of the call get_weather cannot be read as JSON: \'{"city":"Pa\'',
    ),
    (
        chat("tool_calls", tool_calls=[call(name="")]),
        WIRE + "call 0 does not name its function: the name is ''",
    ),
    (
        chat("tool_calls", content="One moment."),
        WIRE + "the reply says that it ended with a call, but holds none (finish_reason: tool_calls)",
    ),
    (chat(content=""), WIRE + "the reply is empty: it holds no text, no reasoning and no call"),
    (
        chat(content="", reasoning_content="Hm."),
        MODEL + "the reply holds only reasoning: no text and no call",
    ),
    (
        chat(content="Warm.", reasoning_content=[said("Hm")]),
        WIRE + "the model called no tool, and reasoning_content is a list, not text",
    ),
    (
        chat(content='{"name": "get_weather", "arguments": {"city": "Paris"}}'),
        # Families with different parsers write such a call, and the model's name shows none of them.
        WIRE + 'the call was left as markup in the content (\'{"name": "get_weather", "arguments": {\', the markup of '
        "Hermes and Qwen (JSON) and others): the server's tool-call parser did not take it; start the server with the "
        "tool-call parser of the model's family",
    ),
    (
        chat("tool_calls", tool_calls=[{**call(), "type": "custom"}]),
        WIRE + "call 0 is of the type 'custom', not function",
    ),
    (chat("error", content="x"), WIRE + "the reply says that it failed (finish_reason: error)"),
    (chat(content="It is warm in Paris."), MODEL + "the model called no tool"),
    (chat(content="I could use get_weather, but will not."), MODEL + "the model called no tool"),
]
MESSAGES = [
    (messages([said("I wi")], "max_tokens"), MODEL + "the token limit cut the reply (stop_reason: max_tokens)"),
    (messages([{**USE, "input": {}}], "max_tokens"), MODEL + "the token limit cut the reply (stop_reason: max_tokens)"),
    (
        messages([said("x")], "model_context_window_exceeded"),
        MODEL + "the token limit cut the reply (stop_reason: model_context_window_exceeded)",
    ),
    (messages([], "refusal"), MODEL + "the model refused (stop_reason: refusal)"),
    (
        messages([said("Searching")], "pause_turn"),
        MODEL + "the server paused the turn and waits to be asked again (stop_reason: pause_turn)",
    ),
    (messages([]), WIRE + "the reply is empty: it holds no text, no reasoning and no call"),
    (
        messages([said("ok")], "tool_use"),
        WIRE + "the reply says that it ended with a call, but holds none (stop_reason: tool_use)",
    ),
    (
        messages([said("<function=get_weather>")]),
        CODER,
    ),
    (
        messages([{"type": "thinking", "thinking": KIMI, "signature": "s"}, said("ok")]),
        left("the reasoning (reasoning_details)", "<|tool_calls_section_begin|>", "Kimi K2", "kimi_k2", "kimi_k2"),
    ),
    (
        messages([{"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}, said("ok")]),
        MODEL + "the model called a tool that the server runs (server_tool_use)",
    ),
    (messages([said("Warm.")]), MODEL + "the model called no tool"),
]
RESPONSES = [
    (
        cut("max_output_tokens", text("I w")),
        MODEL + "the token limit cut the reply (incomplete_details.reason: max_output_tokens)",
    ),
    (
        cut("max_output_tokens", {**ITEM, "arguments": CUT}),
        MODEL + "the token limit cut the reply (incomplete_details.reason: max_output_tokens)",
    ),
    (
        cut("content_filter", text("")),
        MODEL + "a content filter ended the reply (incomplete_details.reason: content_filter)",
    ),
    (responses([text("No.", "refusal")]), MODEL + "the model refused (refusal: 'No.')"),
    (responses([]), WIRE + "the reply is empty: it holds no text, no reasoning and no call"),
    (
        responses([text("<function=get_weather>")]),
        CODER,
    ),
    (
        responses([{**ITEM, "arguments": CUT}]),
        WIRE + 'the arguments of the call get_weather cannot be read as JSON: \'{"city":"Pa\'',
    ),
    (
        responses([{"type": "web_search_call", "id": "ws_1", "status": "completed"}, text("Warm.")]),
        MODEL + "the model called a tool that the server runs (web_search_call)",
    ),
    (
        responses([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}]),
        MODEL + "the reply holds only reasoning: no text and no call",
    ),
    (responses([text("Warm.")]), MODEL + "the model called no tool"),
]
GEMINI = [
    (gemini([{"text": "I w"}], "MAX_TOKENS"), MODEL + "the token limit cut the reply (finishReason: MAX_TOKENS)"),
    (
        gemini(None, "MALFORMED_FUNCTION_CALL"),
        WIRE + "the provider could not read the call that its model wrote (finishReason: MALFORMED_FUNCTION_CALL)",
    ),
    (gemini(None, "SAFETY"), MODEL + "a content filter ended the reply (finishReason: SAFETY)"),
    (gemini([{"text": ""}]), WIRE + "the reply is empty: it holds no text, no reasoning and no call"),
    (gemini(None), WIRE + "the reply is empty: it holds no text, no reasoning and no call"),
    (
        gemini([{"text": "<tool_call>{}"}]),
        HERMES,
    ),
    (
        gemini([{"text": 'print(default_api.get_weather(city="Paris"))'}]),
        WIRE + "the call get_weather was left as text in the content",
    ),
    (
        gemini([{"text": "Hm", "thought": True}]),
        MODEL + "the reply holds only reasoning: no text and no call",
    ),
    (
        gemini([{"executableCode": {"language": "PYTHON", "code": "1"}}]),
        MODEL + "the model called a tool that the server runs (executableCode)",
    ),
    (
        gemini([{"functionCall": {"args": {}}}]),
        WIRE + "call 0 does not name its function: the name is None",
    ),
    (gemini([{"text": "Warm."}]), MODEL + "the model called no tool"),
]


def ends() -> Iterator[tuple[str, Any, str, str]]:
    for wire, cases in (("chat", CHAT), ("messages", MESSAGES), ("responses", RESPONSES), ("gemini", GEMINI)):
        for reply, note in cases:
            yield wire, reply, "plain", note
            yield wire, streamed(wire, reply), "stream", note


@every(("wire", "reply", "variant", "note"), ends())
def test_a_cause_has_its_own_words(wire: str, reply: Any, variant: str, note: str) -> None:
    progress, peer = conversed(wire, [reply], "one-tool-call", variant)
    assert note == progress.note
    # Calls that can be read in the text are answered: the next turn is judged, too.
    is_read = any("the calls were read from the text" in change for change in progress.changes)
    assert (2 if is_read else 1) == len(peer.requests)


LEFT_CALLS = [
    ("chat", chat(content=f"<tool_call>\n{NAMED}\n</tool_call>")),
    ("chat", chat(content="", reasoning_content=f"Look. {KIMI}")),
    ("messages", messages([said(f"<tool_call>{NAMED}</tool_call>")])),
    ("responses", responses([text('[TOOL_CALLS]get_weather[ARGS]{"city":"Paris"}')])),
    ("gemini", gemini([{"text": 'get_weather{"city":"Paris"}'}])),
]


@every(
    ("wire", "reply", "variant"), [(wire, reply, each) for wire, reply in LEFT_CALLS for each in ("plain", "stream")]
)
def test_a_call_that_was_left_as_markup_is_answered_and_its_turn_still_fails(
    wire: str, reply: Any, variant: str
) -> None:
    given = streamed(wire, reply) if variant == "stream" else reply
    progress, peer = conversed(wire, [given, given], "one-tool-call", variant)
    assert 2 == len(peer.requests)
    assert "Paris" in str(peer.requests[1]).partition("get_weather")[2]
    assert ["turn 1: the calls were read from the text, and the rest was played with them"] == progress.changes
    assert progress.note.startswith("ended at turn 1: the call was left as markup in the ")


@every("written", ['{"city":"Paris","city":"Paris"}', '{"n":123456789012345678901234567890}', '{"n":1.0}', "", "[]"])
def test_arguments_that_a_client_reads_do_not_end_a_conversation(written: str) -> None:
    progress, _ = conversed("chat", [chat("tool_calls", tool_calls=[call(written)])], "one-tool-call", "plain")
    assert "" == progress.note


def without_last(stream: str, word: str) -> str:
    """Return a stream without the last event that has a word."""
    events = stream.split("\n\n")
    last = max(number for number, event in enumerate(events) if word in event)
    return "\n\n".join([*events[:last], *events[last + 1 :]])


CUT_STREAMS = [
    (
        "messages",
        without_last(streamed("messages", messages([USE], "tool_use")), "input_json_delta"),
        'the partial_json of the call get_weather cannot be read as JSON: \'{"city":"Par\'',
    ),
    (
        "messages",
        without_last(streamed("messages", messages([USE], "tool_use")), "message_stop"),
        "the stream of the reply did not come to its end",
    ),
    (
        "responses",
        without_last(streamed("responses", responses([ITEM])), "response.completed"),
        "the stream of the reply did not come to its end",
    ),
    (
        "gemini",
        'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hm"}]}}]}\n\n',
        "the stream of the reply did not come to its end",
    ),
]


@every(("wire", "stream", "words"), CUT_STREAMS)
def test_a_cut_stream_has_its_own_words(wire: str, stream: str, words: str) -> None:
    progress, _ = conversed(wire, [stream], "one-tool-call", "stream")
    assert WIRE + words == progress.note


def test_a_blocked_prompt_and_a_failed_response_have_their_own_words() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}, "modelVersion": "g", "responseId": "r"}
    progress, _ = conversed("gemini", [blocked], "one-tool-call", "plain")
    assert MODEL + "a content filter blocked the prompt (promptFeedback.blockReason: SAFETY)" == progress.note
    failed = responses([], "failed", error={"code": "server_error", "message": "Gone."})
    progress, _ = conversed("responses", [failed], "one-tool-call", "plain")
    assert WIRE + "the reply says that it failed (status: failed): Gone." == progress.note


def test_what_follows_from_a_cause_is_not_reported_again() -> None:
    case, _ = played("chat", [chat("tool_calls", tool_calls=[call(CUT)])], "one-tool-call", "plain")
    assert case.note.startswith(WIRE)
    assert not [probe for probe in case.probes if probe.status is Status.FAILED]
    assert report_on_end(case).startswith(f"the wire is broken: {case.note}")


@pytest.mark.parametrize("note", [MODEL + "the token limit cut the reply (finish_reason: length)"])
def test_a_limit_is_not_the_fault_of_the_wire(note: str) -> None:
    report = report_on_end(Case("one-tool-call", "plain", Evidence.LIVE, note=note))
    assert report.startswith(note)
    assert "the wire is not at fault" in report
