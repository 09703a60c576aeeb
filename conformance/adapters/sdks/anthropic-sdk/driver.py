"""Drives the Anthropic SDK: a loop that appends the reply's content blocks to the history, as its documentation does.

The SDK's own helper assembles streams.
"""

import sys
from pathlib import Path
from typing import Any

from anthropic import Anthropic

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive

THINKING = {"type": "enabled", "budget_tokens": 2048}


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    client = Anthropic(base_url=job.base_url.removesuffix("/v1"), api_key=job.api_key, timeout=20)
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in job.tools
    ]
    fixed: dict[str, Any] = {"model": job.model, "max_tokens": 4096, "thinking": THINKING}
    fixed |= ({"tools": tools} if tools else {}) | ({"system": job.system} if job.system else {})

    def ask(history: list[Any]) -> Any:
        if not job.stream:
            return client.messages.create(messages=history, **fixed)
        with client.messages.stream(messages=history, **fixed) as stream:
            return stream.get_final_message()

    history: list[Any] = []
    for prompt in job.prompts:
        history.append({"role": "user", "content": prompt})
        for _ in range(job.max_turns):
            message = ask(history)
            history.append({"role": "assistant", "content": message.content})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                break
            history.append({"role": "user", "content": results(job, calls)})
        job.ended(message.stop_reason)
        yield "".join(block.text for block in message.content if block.type == "text")


def results(job: Job, calls: list[Any]) -> list[dict[str, Any]]:
    """Return the result block of each call; the flag `is_error` marks those of calls that failed."""
    done = job.run_calls([(call.name, call.input) for call in calls])
    return [
        {"type": "tool_result", "tool_use_id": call.id, "content": text, **({"is_error": True} if failed else {})}
        for call, (text, failed) in zip(calls, done, strict=True)
    ]


drive(talk, "anthropic")
