"""Records of gateways, services and loggers: the request and its refusal are found wherever they keep them."""

import base64
import json
from typing import Any

from conformance.formats import read
from tests.loops import every
from tests.wires import REQUEST

TEXT, URL = json.dumps(REQUEST), "https://api.openai.com/v1/chat/completions"
ERROR = {"error": {"message": "Slow down.", "type": "rate_limit_error", "code": None}}
REFUSED = json.dumps(ERROR)
RAISED = f"openai.RateLimitError: Error code: 429 - {ERROR!r}"


def _packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _lines(*records: Any) -> str:
    return "".join([f"{json.dumps(each)}\n" for each in records])


WHOLE: dict[str, Any] = {
    "Kong": {
        "request": {"uri": "/chat", "method": "POST"},
        "response": {"status": 429},
        "ai": {"proxy": {"payload": {"request": TEXT, "response": REFUSED}}},
    },
    "Charles": [
        {
            "host": "api.openai.com",
            "path": "/v1/chat/completions",
            "request": {"header": {"headers": []}, "body": {"text": TEXT}},
            "response": {"status": 429, "header": {"headers": []}, "body": {"text": REFUSED}},
        }
    ],
    "Google Cloud": [{"jsonPayload": {"message": "call", "request": REQUEST, "response": ERROR}, "severity": "ERROR"}],
    "SageMaker": {
        "captureData": {
            "endpointInput": {"data": _packed(TEXT), "encoding": "BASE64"},
            "endpointOutput": {"data": _packed(REFUSED), "encoding": "BASE64"},
        }
    },
    "Lambda": {"event": {"body": _packed(TEXT), "isBase64Encoded": True}, "answer": {"body": REFUSED}},
    "AutoGen": {"json_state": TEXT, "event_name": "chat_completion", "response": ERROR},
    "n8n": {
        "runData": [{"data": {"main": [[{"json": {"request": REQUEST}}]]}, "error": {"message": f"429 - {REFUSED}"}}]
    },
    "Inspect": {"samples": [{"messages": [], "events": [{"call": {"request": REQUEST, "response": ERROR}}]}]},
    "CloudWatch": {"events": [{"message": f"POST {URL} body={TEXT}"}, {"message": f"status=429 body={REFUSED}"}]},
    "batches of Gemini": {"batch": {"requests": [{"request": REQUEST}]}, "response": ERROR},
}
RECORDS: dict[str, tuple[Any, list[str]]] = {
    "DSPy": (
        {"prompt": None, "messages": REQUEST["messages"], "model": "m", "kwargs": {}, "response": ERROR},
        ["model"],
    ),
    "Agents SDK": ({"model": "m", "input": [{"role": "tool", "tool_call_id": "a", "content": "9"}], "output": []}, []),
    "Dify": ({"prompts": [{"role": "user", "text": "Hi", "files": []}, {"role": "assistant", "text": "Hello"}]}, []),
    "Phoenix": (
        {
            "span_kind": "LLM",
            "attributes.llm.model_name": "m",
            "attributes.llm.input_messages": [
                {"message.role": "user", "message.content": "Hi"},
                {
                    "message.role": "assistant",
                    "message.tool_calls": [{"tool_call.id": "a", "tool_call.function.name": "g"}],
                },
            ],
        },
        ["model"],
    ),
}
LOGS: dict[str, str] = {
    "a line of Kubernetes": f"2026-11-20T10:00:00Z stdout F sent {TEXT}\n2026-11-20T10:00:01Z stderr F {RAISED}\n",
    "Docker": _lines({"log": f"sent {TEXT}\n", "stream": "stdout"}, {"log": f"{RAISED}\n", "stream": "stderr"}),
    "journald": _lines({"PRIORITY": "6", "MESSAGE": f"sent {TEXT}"}, {"PRIORITY": "3", "MESSAGE": f"429 {REFUSED}"}),
    "Loki": _lines({"labels": {}, "line": f"sent {TEXT}"}, {"labels": {}, "line": RAISED}),
    "Serilog": _lines(
        {"@t": "", "@mt": f"sent {TEXT}", "@l": "Debug"}, {"@t": "", "@mt": "no", "@l": "Error", "@x": RAISED}
    ),
    "a report": f"I send\n```json\n{json.dumps(REQUEST, indent=2)}\n```\nand get\n```\n{RAISED}\n```\n",
    "Rails": f"DEBUG: {TEXT.replace('null', 'nil').replace(': ', '=>')}\nERROR: status 429 - {REFUSED}\n",
    "a quoted value": f'err=Http("429: {REFUSED}") sent="{TEXT}"'.replace('"', '\\"'),
}


@every(("name", "value"), list(WHOLE.items()))
def test_a_record_holds_a_request_and_its_refusal(name: str, value: Any) -> None:
    given = list(read(json.dumps(value).encode(), "record.json"))
    (exchange,) = [each for one in given for each in one.conversation]
    assert (REQUEST, True) == (exchange.request, "Slow down." in json.dumps(exchange.response)), name


@every(("name", "value"), list(RECORDS.items()))
def test_a_record_has_messages_and_no_body(name: str, value: tuple[Any, list[str]]) -> None:
    (given,) = read(json.dumps(value[0]).encode(), "record.json")
    request = given.conversation[0].request
    assert (["messages", *value[1]], True) == (sorted(request), bool(request["messages"])), name


@every(("name", "text"), list(LOGS.items()))
def test_a_log_holds_a_request_that_the_program_printed_and_its_refusal(name: str, text: str) -> None:
    given = list(read(text.encode(), "app.log"))
    requests = [each.request for one in given for each in one.conversation if each.request is not None]
    replies = [each.response for one in given for each in one.conversation if each.response is not None]
    assert ([REQUEST], [ERROR["error"]["message"]]) == (requests, [each["error"]["message"] for each in replies]), name


@every(
    ("text", "status", "message"),
    [
        (
            'jinja2.exceptions.TemplateError: Alternate.\nINFO: "POST /v1/chat/completions HTTP/1.1" 400 Bad Request\n',
            400,
            "Alternate.",
        ),
        ('10.0.0.1 - - [20/Nov/2026] "POST /v1/messages HTTP/1.1" 429 312 "-" "x"\n', 429, None),
        ('[GIN] 2026/11/20 - 10:00:00 | 400 | 1.2ms | 127.0.0.1 | POST     "/v1/chat/completions"\n', 400, None),
        (
            'srv: got exception: {"code":500,"message":"Failed to parse","type":"server_error"}\n',
            500,
            "Failed to parse",
        ),
        (
            "System.ClientModel.ClientResultException: HTTP 400 (bad: )\nParameter: x\n\nToo long.\n   at A.B()\n",
            400,
            "Too long.",
        ),
        (f"WebClientResponseException: 400 Bad Request from POST {URL}\n", 400, None),
    ],
)
def test_a_server_or_an_sdk_of_another_language_says_what_was_refused(
    text: str, status: int, message: str | None
) -> None:
    (given,) = read(text.encode(), "server.log")
    (exchange,) = given.conversation
    shown = json.dumps(exchange.response)
    assert (status, True) == (exchange.status, message is None or message in shown), shown


def test_events_of_a_stream_in_the_lines_of_a_log_are_one_reply() -> None:
    events = [
        {"choices": [{"index": 0, "delta": {"content": each}}], "object": "chat.completion.chunk"} for each in "ab"
    ]
    text = (
        "".join([f"10:00:00 DEBUG recv: data: {json.dumps(each)}\n" for each in events])
        + "10:00:01 recv: data: [DONE]\n"
    )
    (given,) = read(text.encode(), "stream.log")
    assert 3 == str(given.conversation[0].response).count("data: ")


def test_what_litellm_prints_of_its_own_parameters_is_no_request() -> None:
    own = {"model": "m", "functions": None, "messages": REQUEST["messages"]}
    text = f"Params passed to completion() {own!r}\nRequest options: {{'json_data': {REQUEST!r}}}\n{RAISED}\n"
    (given,) = read(text.encode(), "app.log")
    assert [REQUEST] == [each.request for each in given.conversation]


@every(
    "text",
    [
        'POST "https://api.openai.com/v1/chat/completions": 400 Bad Request {"message":"Too long.","type":"x"}\n',
        'Error: ApiError(ApiError { message: "Too long.", type: Some("x"), param: None, code: None })\n',
        "PHP Fatal error:  Uncaught OpenAI\\Exceptions\\ErrorException: Too long. in /app/vendor/x.php:61\n",
        '[error] response: %{"error" => %{"message" => "Too long.", "code" => nil}}\n',
    ],
)
def test_the_error_alone_is_read_as_the_sdks_of_go_rust_php_and_elixir_print_it(text: str) -> None:
    (given,) = read(text.encode(), "app.log")
    assert "Too long." == given.conversation[0].response["error"]["message"]


MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "content": [], "model": "m", "usage": {}}
STREAMED = (
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
    {"type": "message_stop"},
)


def test_events_of_two_streams_of_messages_in_a_log_are_two_replies() -> None:
    lines = [f"10:00:00 event: {each['type']}\n10:00:00 data: {json.dumps(each)}\n" for each in STREAMED * 2]
    texts = [str(each.conversation[0].response) for each in read("".join(lines).encode(), "stream.log")]
    assert [3, 3] == [each.count("data: ") for each in texts]
    assert texts[0].startswith("event: message_start\n")


@every("text", ["ChatCompletionChunk(id='c', choices=[Choice(delta=D(content='{}'), index=0)], object='x')\n", None])
def test_chunks_that_a_program_prints_one_by_one_are_one_stream(text: str | None) -> None:
    node = "{{\n  id: 'c',\n  choices: [ {{ index: 0, delta: {{ content: '{}' }} }} ]\n}}\n"
    made = "".join([(text or node).format(each) for each in "ab"])
    (given,) = read(made.encode(), "chunks.log")
    (exchange,) = given.conversation
    # The end of the stream is not printed, so that it is taken for granted.
    assert (True, 3) == (exchange.streamed, str(exchange.response).count("data: "))


def test_a_list_of_replies_of_gemini_is_a_stream() -> None:
    parts = [{"candidates": [{"content": {"role": "model", "parts": [{"text": each}]}}]} for each in "ab"]
    (given,) = read(json.dumps(parts).encode(), "reply.json")
    assert (True, 2) == (given.conversation[0].streamed, str(given.conversation[0].response).count("data: "))


def test_a_list_of_what_is_not_valid_is_the_reply_of_a_server_of_python() -> None:
    body = {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]}
    (given,) = read(json.dumps(body).encode(), "reply.json")
    assert (422, body) == (given.conversation[0].status, given.conversation[0].response)


def test_messages_of_a_framework_in_a_log_are_no_request() -> None:
    own = {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": []}}]}]}
    (given,) = read(f"params: {own!r}\n{RAISED}\n".encode(), "app.log")
    assert [(None, 429)] == [(each.request, each.status) for each in given.conversation]
