"""Drives the OpenAI SDK with a loop that appends the reply's message to the history as `model_dump()` returns it.

The driver assembles streams itself, each call under its index, as the SDK's documentation of deltas suggests.
"""

import sys
from pathlib import Path
from typing import Any

from openai import OpenAI
from openai.types.chat import ChatCompletionMessage

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    client = OpenAI(base_url=job.base_url, api_key=job.api_key, timeout=20)
    tools = [tool.as_openai() for tool in job.tools]
    fixed: dict[str, Any] = {"model": job.model, "stream": job.stream, **({"tools": tools} if tools else {})}

    def ask(history: list[Any]) -> ChatCompletionMessage:
        reply = client.chat.completions.create(messages=history, **fixed)
        return assembled(reply) if job.stream else reply.choices[0].message

    return loop(job, ask, ChatCompletionMessage.model_dump)


def assembled(chunks: Any) -> ChatCompletionMessage:
    """Return the message of a stream: texts concatenated, calls collected by index."""
    texts: dict[str, str] = {}
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in chunk.choices[:1]:
            for field in ("content", "reasoning_content", "reasoning"):
                texts[field] = texts.get(field, "") + (getattr(choice.delta, field, None) or "")
            for fragment in choice.delta.tool_calls or []:
                call = calls.setdefault(fragment.index, {"name": "", "arguments": ""})
                call["id"] = fragment.id or call.get("id")
                call["name"] = fragment.function.name or call["name"]
                call["arguments"] += fragment.function.arguments or ""
    tool_calls = [
        {"id": call.pop("id"), "type": "function", "function": call} for _, call in sorted(calls.items(), key=str)
    ]
    fields = {field: text for field, text in texts.items() if text or field == "content"}
    return ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": tool_calls or None, **fields})


drive(talk, "openai")
