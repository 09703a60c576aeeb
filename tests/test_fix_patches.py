"""The patches of JSON output, applied by code of this test, remove the findings that they belong to, on each wire."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from conformance import wires
from conformance.documents.pointer import REMOVE, edit, parse
from conformance.formats.records import exchange
from tests.checking import BASES, check, jsonl, write

R = "/1/request"
CHAT, STREAMED = "thinking-session", "stream-thinking-session"
CASES: list[tuple[str, dict[str, Any]]] = [
    (CHAT, {f"{R}/messages/2/reasoning_content": REMOVE}),
    (CHAT, {f"{R}/messages/2/reasoning_content": "Something else entirely."}),
    (CHAT, {f"{R}/messages/2/tool_calls/0/function/arguments": {"city": "Paris"}}),
    (CHAT, {f"{R}/messages/2/timestamp": 12}),
    (CHAT, {f"{R}/messages/3/role": "function"}),
    (STREAMED, {f"{R}/messages/1/reasoning_content": REMOVE}),
    (STREAMED, {f"{R}/messages/1/tool_calls/0/id": "call_9", f"{R}/messages/2/tool_call_id": "call_9"}),
    (STREAMED, {f"{R}/messages/2/tool_call_id": "get_weather"}),
    (STREAMED, {f"{R}/messages/1/tool_calls/0/function/name": "get_rain"}),
    (STREAMED, {f"{R}/messages/2/id": "msg_1", f"{R}/messages/1/created_at": "2026-01-01"}),
    ("messages-session", {f"{R}/messages/1/content/0": REMOVE}),
    ("messages-session", {f"{R}/messages/1/content/0/signature": "Y2hhbmdlZA=="}),
    ("messages-session", {f"{R}/messages/1/content/1/input": '{"city": "Paris"}'}),
    ("messages-session", {f"{R}/messages/2/content/0/tool_use_id": "toolu_99"}),
    ("messages-session", {f"{R}/thinking/budget_tokens": 9000}),
    ("messages-streamed", {f"{R}/messages/1/content/0/signature": REMOVE}),
    ("messages-streamed", {f"{R}/messages/1/content/0": REMOVE}),
    ("messages-streamed", {f"{R}/messages/1/content/0/thinking": "Other."}),
    ("messages-streamed", {f"{R}/messages/2/content/0/tool_use_id": "wrong"}),
    ("messages-streamed", {f"{R}/messages/1/content/1/name": "get_rain"}),
    ("responses-session", {f"{R}/input/1/encrypted_content": "b3RoZXI="}),
    ("responses-session", {f"{R}/input/4/call_id": "fc_01"}),
    ("responses-session", {f"{R}/input/2/arguments": '{"city": "Rom"}'}),
    ("responses-session", {f"{R}/input/1": REMOVE}),
    ("responses-session", {f"{R}/input/4/role": "tool"}),
    ("responses-stream", {f"{R}/input/1": REMOVE}),
    ("responses-stream", {f"{R}/input/3/name": "get_rain"}),
    ("responses-stream", {f"{R}/input/2/content/0/text": "Let me see."}),
    ("responses-stream", {f"{R}/input/4/call_id": "call_zz"}),
    ("responses-stream", {f"{R}/input/3/arguments": {"city": "Paris"}}),
    ("gemini-session", {f"{R}/contents/1/parts/0/thoughtSignature": REMOVE}),
    ("gemini-session", {f"{R}/contents/1/parts/0/thoughtSignature": "b3RoZXI="}),
    ("gemini-session", {f"{R}/contents/1/role": "assistant"}),
    ("gemini-session", {f"{R}/contents/2/parts/0/functionResponse/name": "weather"}),
    ("gemini-session", {f"{R}/contents/1/parts/0/functionCall/args": '{"city": "Paris"}'}),
    ("gemini-streamed", {f"{R}/contents/1/parts/1/thoughtSignature": REMOVE}),
    ("gemini-streamed", {f"{R}/contents/2/parts/0/functionResponse/name": "get_rain"}),
    ("gemini-streamed", {f"{R}/contents/1/role": "assistant"}),
    ("gemini-streamed", {f"{R}/contents/2/parts/0/functionResponse/response": "18"}),
    ("gemini-streamed", {f"{R}/contents/1/parts/1/functionCall/args/city": "Oslo"}),
]


def records(base: str) -> list[Any]:
    """Return a session; one that is streamed goes on with what the stream of its wire says."""
    if not base.endswith("-streamed"):
        return copy.deepcopy(BASES[base])
    (first,) = copy.deepcopy(BASES[base.replace("-streamed", "-stream")])
    (read,) = wires.translate((exchange(first, base),))
    assert read.native is not None
    own: Any = wires.by_name(read.protocol).writing.own(read.native)
    body = copy.deepcopy(first["request"])
    if read.protocol == "messages":
        calls = [each["id"] for each in own if each["type"] == "tool_use"]
        results: Any = [{"type": "tool_result", "tool_use_id": each, "content": "18"} for each in calls]
        body["messages"] += [{"role": "assistant", "content": own}, {"role": "user", "content": results or "Thanks."}]
    else:
        calls = [each["functionCall"]["name"] for each in own["parts"] if "functionCall" in each]
        results = [{"functionResponse": {"name": each, "response": {"temperature": 18}}} for each in calls]
        body["contents"] += [own, {"role": "user", "parts": results or [{"text": "Thanks."}]}]
    return [first, {"request": body, "url": first["url"]}]


def applied(value: Any, patch: list[dict[str, Any]]) -> Any:
    """Apply a JSON Patch as RFC 6902 says, on a copy."""
    value = copy.deepcopy(value)
    for operation in patch:
        *path, last = parse(operation["path"])
        holder = value
        for token in path:
            holder = holder[int(token) if isinstance(holder, list) else token]
        key: Any = int(last) if isinstance(holder, list) else last
        if operation["op"] == "remove":
            del holder[key]
        elif operation["op"] == "add" and isinstance(holder, list):
            holder.insert(key, operation["value"])
        else:
            holder[key] = operation["value"]
    return value


def found(path: Path) -> list[tuple[str, dict[str, Any]]]:
    _, shown, _ = check("--format", "json", "--provider", "none", path)
    (one,) = json.loads(shown)["inputs"]
    return [(each["rule"], finding) for each in one["outcomes"] for finding in each["findings"]]


def with_patches(given: list[Any], chosen: tuple[str, str, str], every: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Return a session with the patches of one finding in each request that has it."""
    fixed = copy.deepcopy(given)
    for rule, finding in every:
        if place(rule, finding) == chosen and "fixes" in finding:
            (fix,) = finding["fixes"]
            number = int(fix["at"].split("/")[1])
            fixed[number]["request"] = applied(fixed[number]["request"], fix["patch"])
    return fixed


def place(rule: str, finding: dict[str, Any]) -> tuple[str, str, str]:
    return rule, finding["at"].partition("/request")[2], finding["message"]


def failures(base: str, changes: dict[str, Any], tmp_path: Path) -> list[str]:
    given = edit(records(base), changes)
    # One session in one file: the requests after the one at fault do not matter here.
    path = write(tmp_path / "session.jsonl", jsonl({"exchanges": given[:2]}))
    every = found(path)
    wrong = [] if every else [f"{base} {changes}: nothing found"]
    for rule, finding in every:
        name = f"{base} {next(iter(changes))}: {rule}"
        if finding["side"] != "client":
            continue
        if "fixes" not in finding:
            wrong.append(f"{name}: no fix, it needs {finding.get('needs')}")
            continue
        fixed = with_patches(given[:2], place(rule, finding), every)
        left = found(write(tmp_path / "fixed.jsonl", jsonl({"exchanges": fixed})))
        if place(rule, finding) in [place(*each) for each in left]:
            wrong.append(f"{name}: still found")
        if new := {each for each, _ in left} - {each for each, _ in every}:
            wrong.append(f"{name}: new {new}")
    return wrong


@pytest.mark.slow
def test_a_patch_of_the_json_output_removes_its_finding(tmp_path: Path) -> None:
    assert [] == [each for base, changes in CASES for each in failures(base, changes, tmp_path)]
