"""Drives this project's own converter: an agent loop in a few lines, and an example of a driver."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from conformance import profiles
from conformance.convert import egress, ingress
from conformance.transport.client import Client, Endpoint
from conformance.wire.index import Index


def ask(client, job, claims, history):
    """Return the canonical message of the reply to a history; raises if the reply is an error or truncated."""
    tools = [{"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
             for tool in job["tools"]]  # fmt: skip
    body = {"model": job["model"], "messages": egress.prepare(history, claims).messages, "stream": job["stream"]}
    exchange = client.send_once(body | ({"tools": tools} if tools else {}))
    index = Index((exchange,))
    if not index.replies or not index.replies[0].complete or any(stream.value.error for stream in index.streams):
        raise RuntimeError(f"no complete reply, but HTTP {exchange.status}: {str(exchange.response)[-300:]}")
    return ingress.read(index.replies[0].message, claims)


def run(job, call):
    """Return the text of a call's result for the history."""
    tool = next((tool for tool in job["tools"] if tool["name"] == call["function"]["name"]), None)
    try:
        arguments = json.loads(call["function"]["arguments"] or "{}")
    except ValueError as error:
        return f"The arguments are not JSON: {error}"
    found = next((result for result in tool["results"] if result["arguments"] == arguments), None) if tool else None
    time.sleep(found["delay_ms"] / 1000 if found and not found["denied"] else 0)
    return found["text"] if found else tool["otherwise"] if tool else "There is no such tool."


job = json.load(sys.stdin)
known = profiles.load_profile(job.get("profile") or job["provider"]).at(job["model"])
# The ids are this provider's own and are sent back unchanged, whatever the profile claims about foreign ids.
claims = {name: value for name, value in known.items() if not name.startswith("ids.")}
history = [{"role": "system", "content": job["system"]}] if job["system"] else []
# What comes from elsewhere has the ids and the reasoning of others.
history += egress.prepare(job.get("history", []), known).messages
answer = {"texts": []}
try:
    with Client(Endpoint(job["base_url"], job["api_key"])) as client, ThreadPoolExecutor() as pool:
        for prompt in job["prompts"]:
            history.append({"role": "user", "content": prompt})
            for _ in range(job["max_turns"]):
                history.append(ask(client, job, claims, history))
                calls = history[-1].get("tool_calls", [])
                if not calls:
                    break
                for call, text in zip(calls, pool.map(lambda call: run(job, call), calls), strict=True):
                    history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
            answer["texts"].append(history[-1]["content"])
except Exception as error:  # noqa: BLE001 — whatever the loop raises is part of the answer
    answer["error"] = {"type": type(error).__name__, "message": str(error)}
print(json.dumps(answer))
