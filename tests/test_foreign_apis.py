"""Bodies of other APIs are named where no URL tells what they are, and no body of a wire is, however broken."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import Exchange, check
from conformance.errors import Unrecognized, Unusable
from conformance.formats import read
from conformance.resources import folder
from conformance.rules import of_traffic
from conformance.wire import foreign
from conformance.wires import NOTHING_KNOWN, other_api
from tests.loops import every
from tests.wires import REPLY, REQUEST

SAID = {"role": "assistant", "content": "Hello!"}
OLLAMA = {"model": "llama3.2", "created_at": "2026-08-04T08:52:19.385Z", "message": SAID, "done": True}
COHERE = {"id": "c1", "finish_reason": "COMPLETE", "message": {**SAID, "content": [{"type": "text", "text": "Hello!"}]}}
CONVERSE = {"output": {"message": {**SAID, "content": [{"text": "Hello!"}]}}, "stopReason": "end_turn"}
QWEN = {"output": {"choices": [{"finish_reason": "stop", "message": SAID}]}, "request_id": "r", "usage": {}}
DIFY = {"event": "message", "message_id": "1", "conversation_id": "2", "answer": "Hello!"}
RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {}}}

EXCHANGES: list[tuple[str, Any, Any]] = [
    ("Ollama", REQUEST, OLLAMA),
    ("Ollama", REQUEST, json.dumps({**OLLAMA, "done": False}) + "\n" + json.dumps(OLLAMA)),
    ("Ollama", {"model": "m", "prompt": "Hi"}, {**OLLAMA, "response": "Hello!"}),
    ("Cohere", REQUEST, COHERE),
    ("Cohere", REQUEST, {**COHERE, "finish_reason": "TOOL_CALL"}),
    ("Cohere", REQUEST, 'event: message-start\ndata: {"id":"1","type":"message-start","delta":{}}\n\n'),
    ("Cohere", {"message": "Hi", "model": "command-r"}, {"generation_id": "2", "text": "Hello!"}),
    ("Cohere", {"message": "Hi", "chat_history": []}, None),
    ("Converse", {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}, CONVERSE),
    ("Converse", {"messages": [{"role": "user", "content": [{"text": "Hi"}]}], "inferenceConfig": {}}, None),
    ("Converse", None, '{"messageStart": {"role": "assistant"}}\n{"contentBlockDelta": {"contentBlockIndex": 0}}'),
    ("Titan", {"inputText": "Hi"}, {"inputTextTokenCount": 1, "results": [{"outputText": "Hello!"}]}),
    ("text completions", None, {"object": "text_completion", "choices": [{"index": 0, "text": "Hello!"}]}),
    ("text completions", None, 'data: {"id": "1", "object": "text_completion", "choices": [{"text": "H"}]}\n\n'),
    ("embeddings", {"model": "m", "input": "Hi"}, {"object": "list", "data": [{"object": "embedding"}]}),
    ("moderations", {"input": "Hi"}, {"id": "modr-1", "results": [{"flagged": False}]}),
    ("Assistants", {"role": "user", "content": "Hi"}, {"id": "msg_1", "object": "thread.message", "role": "user"}),
    ("Assistants", None, 'event: thread.run.created\ndata: {"id":"run_1","object":"thread.run"}\n\n'),
    ("files", None, {"id": "batch_1", "object": "batch", "status": "completed"}),
    ("models", None, {"object": "list", "data": [{"id": "m", "object": "model"}]}),
    ("images", {"model": "m", "prompt": "A cat"}, {"created": 1767225600, "data": [{"b64_json": "aGk="}]}),
    ("tokens", {"contents": []}, {"totalTokens": 5}),
    ("tokens", REQUEST, {"input_tokens": 14}),
    ("Interactions", {"model": "m", "input": "Hi"}, {"object": "interaction", "outputs": [], "status": "completed"}),
    ("Interactions", None, 'data: {"event_type":"interaction.start","interaction":{}}\n\n'),
    ("Realtime", None, {"type": "response.output_audio.delta", "event_id": "1", "delta": "aGk="}),
    ("Text Completions", {"prompt": "Hi", "max_tokens_to_sample": 5}, {"type": "completion", "completion": "Hello!"}),
    ("Text Completions", None, 'event: completion\ndata: {"type": "completion", "completion": "H"}\n\n'),
    ("Reka", REQUEST, {"id": "1", "responses": [{"finish_reason": "stop", "message": SAID}]}),
    ("MiniMax", REQUEST, {"reply": "Hello!", "choices": [{"messages": [{"sender_type": "BOT", "text": "Hello!"}]}]}),
    ("Llama API", REQUEST, {"completion_message": {**SAID, "content": {"type": "text", "text": "Hello!"}}}),
    ("CLOVA", {"messages": [], "topP": 0.8}, {"status": {"code": "20000"}, "result": {"message": SAID}}),
    ("YandexGPT", {"modelUri": "gpt://x/y", "messages": [{"role": "user", "text": "Hi"}]}, None),
    ("YandexGPT", REQUEST, {"result": {"alternatives": [{"message": {"role": "assistant", "text": "Hello!"}}]}}),
    (
        "Spark",
        {"header": {}, "payload": {"message": {"text": []}}},
        {"header": {"code": 0}, "payload": {"choices": {}}},
    ),
    ("Cortex", REQUEST, {"choices": [{"messages": " Hello!"}], "usage": {}}),
    ("no key of a wire", {"text": "Hi", "sampling_params": {}}, {"text": "Hello!", "meta_info": {}}),
    ("no key of a wire", {"input": {"question": "Hi"}}, {"output": {"answer": "Hello!"}, "metadata": {}}),
    ("rerank", {"query": "a", "documents": ["b"]}, {"results": [{"index": 0, "relevance_score": 0.5}]}),
    ("Text Generation Inference", {"inputs": "Hi", "parameters": {}}, [{"generated_text": "Hello!"}]),
    ("Text Generation Inference", None, 'data:{"index":1,"token":{"id":9,"text":"H","logprob":-1.0}}\n\n'),
    ("llama.cpp", {"prompt": "Hi"}, {"content": "Hello!", "stop": True, "generation_settings": {}}),
    ("DashScope", {"model": "qwen-max", "input": {"messages": []}, "parameters": {}}, QWEN),
    ("DashScope", None, 'id:1\nevent:result\ndata:{"output":{"choices":[]},"request_id":"r"}\n\n'),
    ("ERNIE", {"messages": []}, {"id": "as-1", "object": "chat.completion", "result": "Hello!", "is_truncated": False}),
    (
        "Replicate",
        {"input": {}},
        {"id": "1", "version": "2", "status": "succeeded", "output": [], "urls": {"get": "u"}},
    ),
    ("Workers AI", {"prompt": "Hi"}, {"result": {"response": "Hello!"}, "success": True, "errors": []}),
    ("watsonx", {"model_id": "m", "input": "Hi"}, {"model_id": "m", "results": [{"generated_text": "Hello!"}]}),
    ("Vertex AI", {"instances": [{"content": "Hi"}]}, {"predictions": []}),
    ("AI21", {"prompt": "Hi"}, {"id": "1", "completions": [{"data": {"text": "Hello!"}}]}),
    ("Mistral's", {"inputs": "Hi"}, {"object": "conversation.response", "outputs": []}),
    ("Mistral's", None, 'event: conversation.response.started\ndata: {"type":"conversation.response.started"}\n\n'),
    ("Dify", {"query": "Hi", "inputs": {}, "response_mode": "blocking"}, DIFY),
    ("Dify", None, f"data: {json.dumps(DIFY)}\n\n"),
    ("Coze", {"bot_id": "1", "user_id": "2"}, {"data": {"bot_id": "1", "conversation_id": "3"}, "code": 0}),
    ("Coze", None, 'event:conversation.message.delta\ndata:{"id":"1","content":"H"}\n\n'),
    ("Model Context Protocol", RPC, {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}),
    ("Model Context Protocol", None, 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'),
]

NAMED = [(name, replied) for name, _, replied in EXCHANGES if type(replied) is dict and name != "no key of a wire"]


@every(("name", "asked", "replied"), EXCHANGES)
def test_an_exchange_of_another_api_is_named_and_not_judged(name: str, asked: Any, replied: Any) -> None:
    exchange = Exchange(asked, replied)
    assert name in other_api(exchange)
    with pytest.raises(Unusable, match="is neither chat completions nor another wire that is known"):
        check(exchange)
    (given,) = read(json.dumps({"request": asked, "response": replied}).encode(), "exchange.json")
    assert ("native", ()) == (given.kind, given.conversation)
    assert name in given.notes[0]


@every(("name", "replied"), NAMED)
def test_the_error_for_a_reply_of_another_api_names_it(name: str, replied: Any) -> None:
    with pytest.raises(Unrecognized, match=f"a body of another API: .*{name}"):
        list(read(json.dumps(replied).encode(), "reply.json"))


def test_the_error_for_a_stream_of_another_api_names_it() -> None:
    with pytest.raises(Unrecognized, match="got a stream of another API: Assistants"):
        list(read(b"event: thread.run.created\ndata: {}\n\n", "reply.sse"))


def test_each_api_has_an_example_and_a_source() -> None:
    named = {other_api(Exchange(asked, replied)) for _, asked, replied in EXCHANGES}
    assert {NOTHING_KNOWN, *[api.name for api in foreign.APIS]} == named
    assert all([api.source.startswith("https://") for api in foreign.APIS])


def _exchanges() -> Iterator[Exchange]:
    for path in sorted((folder("fixtures") / "wire").iterdir()):
        for each in json.loads(Path(str(path)).read_text("utf-8")):
            yield Exchange(each.get("request"), each.get("response"), each.get("status"))


def _less(body: Any) -> Iterator[Any]:
    """Yield what is left of a body that lacks one key or one event; and of one that has nothing but one."""
    if type(body) is dict:
        for key in body:
            yield {each: value for each, value in body.items() if each != key}
            yield {key: body[key]}
    elif type(body) is str:
        events = body.split("\n\n")
        yield from ["\n\n".join(events[:at] + events[at + 1 :]) for at in range(len(events))]


def test_no_broken_body_of_a_wire_is_taken_for_one_of_another_api() -> None:
    found = []
    for exchange in _exchanges():
        halves = [Exchange(response=each) for each in _less(exchange.response)]
        halves += [Exchange(request=each) for each in _less(exchange.request)]
        halves += [Exchange(exchange.request, each) for each in _less(exchange.response)]
        halves += [Exchange(each, exchange.response) for each in _less(exchange.request)]
        found += [each for each in (exchange, *halves) if other_api(each)]
    assert [] == found


def test_no_example_of_a_rule_is_taken_for_one_of_another_api() -> None:
    examples = [each for rule in of_traffic() for each in (*rule.bad, *rule.good)]
    assert [] == [each for example in examples for each in example.conversation() if other_api(each)]


@every(
    "replied",
    [
        {**REPLY, "object": "text_completion"},
        {"finish_reason": "stop", "message": SAID},
        {"error": {"message": "results", "type": "invalid_request_error"}},
        {"message": "Not found", "code": 404},
        {"output": {"message": "none"}, "stopReason": "end_turn"},
        {"choices": [], "jsonrpc": "2.0"},
        {"results": []},
        {"data": []},
        "event: error\ndata: {}\n\n",
        'data: {"choices": [{"delta": {"content": "{\\"jsonrpc\\": \\"2.0\\"}"}}]}\n\n',
        "upstream connect error",
        [],
    ],
)
def test_a_broken_reply_to_a_request_of_a_wire_is_judged(replied: Any) -> None:
    assert not other_api(Exchange(REQUEST, replied))


@every(
    ("asked", "replied"),
    [
        ({"model": "gpt-5", "input": "Hi"}, {"id": "resp_1", "status": "completed", "output": []}),
        ({"model": "gpt-5", "input": "Hi"}, {"id": "resp_1", "status": "completed", "model": "gpt-5"}),
        ({"model": "gpt-5", "input": [{"role": "user", "content": "Hi"}]}, {"output": [{"type": "message"}]}),
        ({"model": "gpt-5"}, {"id": "chatcmpl-1", "model": "gpt-5", "created": 1767225600}),
        ({"model": "gpt-5", "max_tokens": 5}, {"usage": {}}),
        ({"stream": True}, {"status": "ok"}),
        ({"generationConfig": {}}, {"usageMetadata": {}}),
        ({"prompt": "Hi"}, {"error": {"message": "unknown field"}}),
        ({"prompt": "Hi"}, REPLY),
        ({"question": "Hi"}, {"message": "Not found"}),
        ({"question": "Hi"}, None),
        ({"question": "Hi"}, {}),
    ],
)
def test_bodies_that_lack_what_a_wire_has_are_judged(asked: Any, replied: Any) -> None:
    assert not other_api(Exchange(asked, replied))
