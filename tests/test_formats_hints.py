import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import brotli
import pytest

from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats import read, read_path
from tests.loops import every
from tests.wires import REPLY, REQUEST

ONE_LINE = [json.dumps(each).encode() for each in (REQUEST, REPLY)]


@every(
    ("expected", "value"),
    [
        ("a reply of Ollama's own API", {"model": "m", "message": REQUEST["messages"][0], "done": True}),
        ("a reply of Bedrock's Converse API", {"output": {"message": {}}, "stopReason": "end_turn"}),
        ("an export of chats from ChatGPT", [{"title": "x", "mapping": {}}]),
        ("check the whole request or reply", [{"type": "function", "function": {"name": "f"}}]),
        ("a body of another API: a list of models", {"object": "list", "data": [{"id": "m", "object": "model"}]}),
        ("a list of something else, such as models", {"object": "list", "data": [{"id": "m"}]}),
        ("the legacy completions API", {"model": "m", "prompt": "Hello"}),
        ("got a list of other or mixed items", [{"role": "user", "content": "Hi"}, {}]),
        ("export spans or log records with messages instead", {"resourceMetrics": []}),
    ],
)
def test_an_unrecognized_value_says_what_is_nearest(expected: str, value: Any) -> None:
    with pytest.raises(Unrecognized) as caught:
        list(read(json.dumps(value).encode(), "my file"))
    assert expected in caught.value.message


@every(
    ("expected", "data"),
    [
        ("it looks like CSV", b'"id","model","request_body"\n1,2,3\n'),
        ("it is a command; run it with -i", b"curl https://api.example.test/v1/chat/completions -d @x.json"),
        ("it is an HTML page", b"<!DOCTYPE html><html><body>Sign in</body></html>"),
        ("bytes that begin with 50 4b 03 04 14 00; it is a ZIP archive", b"PK\x03\x04\x14\x00"),
        ("it is a tar archive", b"x.json".ljust(257, b"\0") + b"ustar"),
        ("sqlite3 -json 'my file' 'SELECT …' | jq -c '.[]' | conformance check -", b"SQLite format 3\0"),
        ("it is a capture of packets", b"\xd4\xc3\xb2\xa1\x02\x00"),
        ("write it with .model_dump_json()", b"ChatCompletion(id='x', choices=[<object at 0x7f>])"),
        ("conformance proxy --upstream URL -- COMMAND", b"import openai\n"),
        ("a name that ends with .br", brotli.compress(json.dumps(REQUEST).encode())),
        ("got YAML without a list of `interactions`", b"interactions: 1\nmessages: []\n"),
    ],
)
def test_an_unrecognized_file_says_how_to_export_it(expected: str, data: bytes) -> None:
    with pytest.raises(Unrecognized) as caught:
        list(read(data, "my file"))
    assert expected in caught.value.message


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        ("as Python prints it; write it with json.dumps", b"{'model': 'm', 'messages': [<object at 0x7f>]}"),
        ("JSON has no comments", b'{\n  // mine\n  "model": "m"}'),
        ("expected a value, got ']'", b'{"messages": [{},]}'),
    ],
)
def test_a_file_that_is_nearly_json_says_what_it_is(expected: str, data: bytes) -> None:
    with pytest.raises(InvalidDocument) as caught:
        list(read(data, "x.json"))
    assert caught.value.message.endswith(expected)


PRETTY = json.dumps(REQUEST, indent=2).encode()
MESSAGE = {"role": "user", "content": "Hello"}
TURNS = [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}]


@pytest.mark.parametrize(
    ("kinds", "name", "data"),
    [
        (["request", "request"], "x.json", PRETTY + b"\n" + PRETTY),
        (["messages"], "x.json", json.dumps(MESSAGE).encode()),
        (["messages"], "x.json", json.dumps([{"conversations": TURNS}]).encode()),
        (["exchange"], "x.json", b'{"model": "m", "input": "Hello"}'),
        (["request", "response"], "x.jsonl", b"\n".join(b"INFO:" + each for each in ONE_LINE)),
    ],
)
def test_the_way_out_leads_out(kinds: list[str], name: str, data: bytes, tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("NOT RUN: jq is not installed")
    path = tmp_path / f"its {name}"
    path.write_bytes(data)
    try:
        problem = next(each.problem for each in read_path(path) if each.problem)
    except InvalidDocument as error:
        problem = error
    command = re.search(r"(?:jq|sed|grep) .*(?= \| conformance check -$)", problem.message)
    assert command
    printed = subprocess.run(["/bin/sh", "-c", command.group()], capture_output=True, check=True).stdout
    assert kinds == [each.kind for each in read(printed, "-")]


def test_only_the_first_line_of_a_file_has_a_hint() -> None:
    first, second = read(b'[INFO] {"a": 1}\nINFO:{}', "x.jsonl")
    assert ["hold JSON after other text" in str(each.problem) for each in (first, second)] == [True, False]


def test_the_search_for_a_hint_is_bounded() -> None:
    value: Any = REQUEST
    for _ in range(100):
        value = {"a": value}
    with pytest.raises(Unrecognized):
        list(read(json.dumps(value).encode(), "file"))
