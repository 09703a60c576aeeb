"""What the drivers of LiteLLM's interface for Messages share: the loop, and the assembly of streams.

LiteLLM returns the events of a stream as they are, so the driver assembles them.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import litellm
from driving import Job, parse_arguments

THINKING = {"type": "enabled", "budget_tokens": 2048}
DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


async def talk(job: Job, **where: str) -> AsyncIterator[str]:
    """Hold the conversation with the loop that Anthropic's documentation shows; `where` names model and URL."""
    litellm.suppress_debug_info = True
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in job.tools
    ]
    fixed: dict[str, Any] = {"max_tokens": 4096, "thinking": THINKING, "timeout": 20, "api_key": job.api_key, **where}
    fixed |= ({"tools": tools} if tools else {}) | ({"system": job.system} if job.system else {})

    async def ask(history: list[Any]) -> list[Any]:
        reply = await litellm.anthropic.messages.acreate(messages=history, stream=job.stream, **fixed)
        return await assembled(reply) if job.stream else reply["content"]

    history: list[Any] = []
    for prompt in job.prompts:
        history.append({"role": "user", "content": prompt})
        for _ in range(job.max_turns):
            content = await ask(history)
            history.append({"role": "assistant", "content": content})
            calls = [block for block in content if block["type"] == "tool_use"]
            if not calls:
                break
            history.append({"role": "user", "content": results(job, calls)})
        yield "".join(block["text"] for block in content if block["type"] == "text")


def results(job: Job, calls: list[Any]) -> list[dict[str, Any]]:
    """Return the result block of each call; the flag `is_error` marks those of calls that failed."""
    done = job.run_calls([(call["name"], call["input"]) for call in calls])
    return [
        {"type": "tool_result", "tool_use_id": call["id"], "content": text, **({"is_error": True} if failed else {})}
        for call, (text, failed) in zip(calls, done, strict=True)
    ]


async def assembled(stream: AsyncIterable[Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a stream; raises RuntimeError if it has an error or no end."""
    blocks: list[dict[str, Any]] = []
    async for event in events(stream):
        match event["type"]:
            case "content_block_start":
                blocks.append(dict(event["content_block"]))
            case "content_block_delta":
                extend(blocks[event["index"]], event["delta"])
            case "content_block_stop":
                finish(blocks[event["index"]])
            case "error":
                raise RuntimeError(event["error"])
            case "message_stop":
                return blocks
    message = "the stream has no message_stop"
    raise RuntimeError(message)


async def events(stream: AsyncIterable[Any]) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a stream, which LiteLLM gives as bytes of server-sent events, cut anywhere, or as objects."""
    rest = b""
    async for chunk in stream:
        if isinstance(chunk, dict):
            yield chunk
            continue
        *lines, rest = (rest + (chunk.encode() if isinstance(chunk, str) else chunk)).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield json.loads(line.removeprefix(b"data:"))


def extend(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Add a delta to its block."""
    if delta["type"] == "signature_delta":
        block["signature"] = delta["signature"]
        return
    key = DELTAS[delta["type"]]
    block[key] = block.get(key, "") + delta[key]


def finish(block: dict[str, Any]) -> None:
    """Parse the arguments of a call that has ended; those that are not JSON become an empty object."""
    if block["type"] == "tool_use":
        block["input"] = parse_arguments(block.pop("partial_json", ""))
