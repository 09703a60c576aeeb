"""Drives LiteLLM: chat completions as its caller speaks them, Anthropic Messages as it sends them.

The loop is that of its documentation. LiteLLM's own stream_chunk_builder assembles streams.
"""

import sys
from pathlib import Path
from typing import Any

import litellm

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Texts, drive, loop

THINKING = {"type": "enabled", "budget_tokens": 2048}


def talk(job: Job) -> Texts:
    """Hold the conversation."""
    litellm.suppress_debug_info = True
    tools = [tool.as_openai() for tool in job.tools]
    where = {"model": f"anthropic/{job.model}", "api_base": job.base_url.removesuffix("/v1"), "api_key": job.api_key}
    fixed: dict[str, Any] = {**where, "max_tokens": 4096, "thinking": THINKING, "stream": job.stream, "timeout": 20}

    def ask(history: list[Any]) -> Any:
        reply = litellm.completion(messages=history, **fixed, **({"tools": tools} if tools else {}))
        whole = litellm.stream_chunk_builder(list(reply), messages=history) if job.stream else reply
        return whole.choices[0].message

    return loop(job, ask)


drive(talk, "litellm", "openai")
