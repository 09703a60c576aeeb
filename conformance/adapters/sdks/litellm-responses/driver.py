"""Drives LiteLLM's bridge: Responses as its caller speaks them, Anthropic Messages as it sends them."""

import sys
from pathlib import Path
from typing import Any

import litellm

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    litellm.suppress_debug_info = True
    where = {"model": f"anthropic/{job.model}", "api_base": job.base_url.removesuffix("/v1"), "api_key": job.api_key}
    tools = [{"type": "function", **tool.as_openai()["function"], "strict": False} for tool in job.tools]
    fixed: dict[str, Any] = {**where, "max_output_tokens": 4096, "stream": job.stream, "timeout": 20}
    fixed |= {"reasoning": {"effort": "low"}, "store": False}
    fixed |= ({"tools": tools} if tools else {}) | ({"instructions": job.system} if job.system else {})

    def ask(history: list[Any]) -> Any:
        reply = litellm.responses(input=history, **fixed)
        if not job.stream:
            return reply
        ends = [event.response for event in reply if event.type == "response.completed"]
        if not ends:
            message = "the stream has no response.completed"
            raise RuntimeError(message)
        return ends[-1]

    history: list[Any] = []
    for prompt in job.prompts:
        history.append({"role": "user", "content": prompt})
        for _ in range(job.max_turns):
            items = [item if isinstance(item, dict) else item.model_dump() for item in ask(history).output]
            history += items
            calls = [item for item in items if item["type"] == "function_call"]
            if not calls:
                break
            done = job.run_calls([(call["name"], call["arguments"]) for call in calls])
            for call, (text, _) in zip(calls, done, strict=True):
                history.append({"type": "function_call_output", "call_id": call["call_id"], "output": text})
        parts = [part for item in items if item["type"] == "message" for part in item["content"]]
        yield "".join(part["text"] for part in parts)


drive(talk, "litellm", "openai")
