"""What is neither chat completions nor another known wire is never judged as one, whichever door it comes by."""

import json
from typing import Any

import pyarrow as pa
import pytest

from conformance import Exchange, check
from conformance.arrow import check_table
from conformance.errors import Unusable
from conformance.formats import read
from conformance.wires import other_api
from tests.wires import REPLY, REQUEST, URL, cassette, lines, one

HOST = "https://api.example.test"
PROMPT = {"model": "m", "prompt": "Hello"}
TEXT: dict[str, Any] = {"object": "text_completion", "choices": [{"index": 0, "text": "Hi"}]}

OTHERS: list[tuple[str, Any, Any]] = [
    (f"{HOST}/v1/embeddings", {"model": "m", "input": "Hello"}, {"object": "list", "data": []}),
    (f"{HOST}/v1/embeddings", None, None),
    (f"{HOST}/v1/audio/speech?x=1", {"model": "m", "input": "Hello", "instructions": "Softly"}, None),
    (f"{HOST}/v1/threads", {"messages": REQUEST["messages"]}, None),
    (f"{HOST}/v1/threads/thread_1/messages", None, {"object": "thread.message"}),
    (f"{HOST}/v1/images/generations", PROMPT, None),
    (f"{HOST}/v1/messages/batches", {"requests": []}, None),
    (f"{HOST}/v1/messages/count_tokens", REQUEST, {"input_tokens": 5}),
    (f"{HOST}/v1/responses/input_tokens", {"model": "m", "input": "Hello"}, None),
    (f"{HOST}/v1/chat/completions/chatcmpl-1/messages", None, {"object": "list"}),
    (f"{HOST}/v1/completions", PROMPT, TEXT),
    (f"{HOST}/v1/completions", None, TEXT),
    (f"{HOST}/api/generate", PROMPT, {"response": "Hi"}),
    (f"{HOST}/v1beta/models/gemini-2.5-flash:batchGenerateContent", {"batch": {}}, None),
    (f"{HOST}/v1beta/models/gemini-2.5-flash:countTokens", {"contents": []}, {"totalTokens": 5}),
    ("/v1/moderations", None, {"results": []}),
    ("api.example.test/v1/rerank", {"query": "a"}, None),
]
KNOWN: list[tuple[str, Any, Any]] = [
    (URL, REQUEST, REPLY),
    (f"{HOST}/embeddings/v1/chat/completions", REQUEST, REPLY),
    (f"{HOST}/v1/chat/completions/", {"model": "m", "prompt": "Hello"}, None),
    (f"{HOST}/v1/chat/completions/chatcmpl-1", None, REPLY),
    (f"{HOST}/v1", {"model": "m"}, None),
    (HOST, PROMPT | REQUEST, REPLY),
    ("api.example.test", REQUEST, REPLY),
    (f"{HOST}/llm", {"model": "m"}, None),
    (f"{HOST}/llm", REQUEST, {"choices": "none"}),
    (f"{HOST}/v1/responses", {"model": "m", "input": "Hello"}, None),
    (f"{HOST}/llm", {"model": "m", "input": "Hello", "store": False}, None),
    (f"{HOST}/v1/messages", {**REQUEST, "max_tokens": 5}, None),
    (f"{HOST}/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", {"contents": []}, None),
    ("", {"model": "m", "input": "Hello"}, None),
]


@pytest.mark.parametrize(("url", "request_body", "response"), OTHERS)
def test_check_rejects_an_exchange_of_another_api_and_names_its_path(
    url: str, request_body: Any, response: Any
) -> None:
    exchange = Exchange(request_body, response, 200, url=url)
    path = other_api(exchange)
    assert path.startswith("/")
    assert path in url
    with pytest.raises(Unusable) as caught:
        check([Exchange(REQUEST, REPLY), exchange])
    expected = f"exchange 1 is neither chat completions nor another wire that is known: {path}"
    assert expected == str(caught.value)


@pytest.mark.parametrize(("url", "request_body", "response"), KNOWN)
def test_check_judges_an_exchange_of_a_known_wire_whatever_is_wrong_with_it(
    url: str, request_body: Any, response: Any
) -> None:
    assert check(Exchange(request_body, response, url=url))


@pytest.mark.parametrize(("url", "request_body", "response"), OTHERS)
def test_files_skip_an_exchange_of_another_api_and_name_it(url: str, request_body: Any, response: Any) -> None:
    record = {"request": request_body, "response": response, "url": url, "status": 200}
    path = other_api(Exchange(request_body, response, url=url))
    for data in (record, lines(record, record), [record], {"exchanges": [record]}):
        for found in read(data if isinstance(data, bytes) else str.encode(_json(data)), "x"):
            assert () == found.conversation
            assert found.notes[0].endswith(f"known: {path[:80]}")
    body = {} if request_body is None else {"body": _json(request_body)}
    recorded = one(cassette({**body, "uri": url}, {"body": {"string": _json(response)}, "status": {"code": 200}}))
    assert ((), True) == (recorded.conversation, recorded.notes[0].startswith("skipped, not chat completions: POST "))


def _json(value: Any) -> str:

    return json.dumps(value)


def test_a_session_keeps_its_other_exchanges() -> None:
    other = {"request": PROMPT, "response": {}, "url": f"{HOST}/v1/images/generations"}
    found = one({"exchanges": [{"request": REQUEST, "response": REPLY, "url": URL}, other, other]})
    assert (1, 1) == (len(found.conversation), len(found.notes))


@pytest.mark.parametrize("method", ["OPTIONS", "GET"])
def test_a_request_that_posts_nothing_is_skipped(method: str) -> None:
    found = one(cassette({"method": method}, {"body": {"string": ""}, "status": {"code": 200}}))
    assert ((), (f"skipped, not chat completions: {method} {URL}",)) == (found.conversation, found.notes)


@pytest.mark.parametrize("url", [url for url, request_body, _ in OTHERS if request_body])
def test_a_row_of_another_api_is_an_error_and_the_others_are_checked(url: str) -> None:
    rows = [{"url": url, "request": _json(PROMPT)}, {"url": URL, "request": '{"model": "m"}'}]
    first, second = check_table(pa.Table.from_pylist(rows)).to_pylist()
    assert first["error"].startswith("url: expected that of chat completions or of another known wire, got /")
    assert (1, "shape/request") == (second["row"], second["rule"])
