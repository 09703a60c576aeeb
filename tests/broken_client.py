"""A driver with any one fault: an agent loop that needs only the standard library.

python broken_client.py FAULT <job >answer
"""

import json
import socket
import sys
import time
from typing import Any

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
job = json.load(sys.stdin)
events: list[dict[str, Any]] = []
ends: list[str] = []
answer: dict[str, Any] = {"texts": [], "version": {"broken-client": "1.0"}, "events": events}


class HTTPError(Exception):
    """The status of a refusal, and its line."""


def post(body: dict[str, Any]) -> bytes:
    """Return the body of a reply, in the HTTP of old: its modules would take as long to import as all else takes."""
    host, _, path = job["base_url"].partition("://")[2].partition("/")
    name, _, port = host.rpartition(":")
    content = json.dumps(body).encode()
    head = f"POST /{path}/chat/completions HTTP/1.0\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    head += f"authorization: Bearer {job['api_key']}\r\ncontent-length: {len(content)}\r\n\r\n"
    with socket.create_connection((name.strip("[]"), int(port)), timeout=20) as connection:
        connection.sendall(head.encode() + content)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    before, _, reply = received.partition(b"\r\n\r\n")
    status = before.partition(b"\r\n")[0].decode()
    if int(status.split()[1]) >= 400:
        raise HTTPError(status)
    return reply


def ask(history: list[dict[str, Any]]) -> dict[str, Any]:
    tools = [{"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
             for tool in job["tools"]]  # fmt: skip
    body = {"model": job["model"], "messages": history, "stream": job["stream"] and FAULT != "never-streams"}
    body |= {"tools": tools} if tools else {}
    try:
        text = post(body).decode()
    except HTTPError:
        if FAULT != "retries-refusals":
            raise
        text = post(body).decode()
    return dict(json.loads(text)["choices"][0]["message"]) if text.startswith("{") else joined(text)


def joined(text: str) -> dict[str, Any]:
    """Return the message of a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    finished = False
    for line in text.splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:]).get("choices", ()):
            finished = finished or choice["finish_reason"] is not None
            delta = choice["delta"]
            for key in ("content", "reasoning_content"):
                if isinstance(delta.get(key), str):
                    message[key] = message.get(key, "") + delta[key]
            for fragment in delta.get("tool_calls", ()):
                empty = {"id": "", "type": "function", "function": {"arguments": ""}}
                call = calls.setdefault(fragment["index"], empty)
                call["id"] = fragment.get("id") or call["id"]
                call["function"]["name"] = fragment["function"].get("name") or call["function"].get("name")
                call["function"]["arguments"] += fragment["function"].get("arguments") or ""
    if not finished and FAULT not in ("accepts-truncated", "marks-truncated", "runs-truncated-call"):
        raise RuntimeError("the stream is truncated")
    ends.append("stop" if finished else "unknown")
    is_kept = calls and FAULT not in ("accepts-truncated", "marks-truncated")
    return message | ({"tool_calls": list(calls.values())} if is_kept else {})


def run(call: dict[str, Any]) -> str:
    name, text = call["function"]["name"], call["function"]["arguments"]
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        return "The arguments are not JSON."
    own = {"name": name, "arguments": arguments}
    tool = next(tool for tool in job["tools"] if tool["name"] == name)
    otherwise = {"text": tool["otherwise"]}
    found = next((result for result in tool["results"] if result["arguments"] == arguments), otherwise)
    if FAULT == "gates-one-by-one":
        events.append({"event": "gate", "calls": [own], "at_ms": 0})
    if found.get("denied") and FAULT != "runs-denied":
        return str(found["text"])
    events.append({"event": "start", "call": own, "at_ms": 1})
    time.sleep(found.get("delay_ms", 0) / 1000)
    if FAULT != "reports-no-ends":
        events.append({"event": "end", "call": own, "at_ms": 2})
    if found.get("fails") and FAULT == "ends-on-failure":
        raise RuntimeError(found["text"])
    return str(found["text"])


def at_once(calls: list[dict[str, Any]]) -> list[str]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor() as pool:
        return list(pool.map(run, calls))


def results(calls: list[dict[str, Any]]) -> list[str]:
    if FAULT in ("gates", "runs-denied", "gates-late"):
        own = [{"name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])} for c in calls]
        gate = {"event": "gate", "calls": own, "at_ms": 0}
        events.append(gate)
    if FAULT == "one-by-one":
        return [run(call) for call in calls]
    texts = list(map(run, calls)) if len(calls) == 1 else at_once(calls)
    if FAULT == "gates-late":
        events.append(events.pop(events.index(gate)))
    if FAULT == "swaps-results":
        texts.reverse()
    if FAULT == "stores-results-by-id":
        by_id = {call["id"]: text for call, text in zip(calls, texts, strict=True)}
        texts = [by_id[call["id"]] for call in calls]
    if FAULT == "blanks-failures":
        texts = ["" if "no city" in text or "denied" in text.lower() else text for text in texts]
    return texts


def resent(message: dict[str, Any]) -> dict[str, Any]:
    calls = [{key: value for key, value in call.items() if key != "index"} for call in message["tool_calls"]]
    message = {**message, "tool_calls": calls}
    if FAULT == "drops-reasoning":
        message = {key: value for key, value in message.items() if not key.startswith("reasoning")}
    if FAULT == "rewrites-ids":
        message = {**message, "tool_calls": [{**c, "id": f"own_id_{time.time_ns()}"} for c in message["tool_calls"]]}
    return message


def converse() -> None:
    history = [{"role": "system", "content": job["system"]}] if job["system"] else []
    history += [] if FAULT == "drops-given-history" else job.get("history", [])
    for prompt in job["prompts"]:
        if FAULT == "forgets-history":
            history = history[:1]
        history.append({"role": "user", "content": prompt})
        for _ in range(job["max_turns"]):
            message = ask(history)
            if FAULT == "runs-truncated-call" and message.get("tool_calls"):
                message["tool_calls"][-1]["function"]["arguments"] += '"}'
            calls = message.get("tool_calls") or []
            message = resent(message) if calls else message
            history.append(message if calls else {"role": "assistant", "content": message["content"]})
            if not calls or FAULT == "stops-early":
                break
            for call, text in zip(message["tool_calls"], results(calls), strict=True):
                history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        answer["texts"].append(message["content"])
        if FAULT == "marks-truncated":
            answer.setdefault("finish", []).append(ends[-1])
    if FAULT == "asks-for-a-title":
        ask([*history, {"role": "user", "content": "Give this conversation a title."}])


try:
    if FAULT != "sends-nothing":
        converse()
except Exception as error:  # noqa: BLE001 — whatever is raised is the answer
    answer["error"] = {"type": type(error).__name__, "message": str(error)}
print(json.dumps(answer))
